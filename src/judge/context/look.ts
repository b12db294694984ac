import type { Likeness } from "../../ports/ports.ts";

/** What only the world outside the store can tell. */
export interface Look {
  /** Undefined when git could not say. */
  isDirty: boolean | undefined;
  /** Files that this task changed, as far as git knows it from where we stand. */
  changed: string[];
  /** Records that speak of the same things, name the same files, or name this task. */
  alike: Likeness[];
  /** Why the search index could not be read. */
  searchProblem: string | undefined;
  /** It was not asked at all. */
  isUnsearched?: true;
}

export const NO_LOOK: Look = {
  isDirty: undefined,
  changed: [],
  alike: [],
  searchProblem: undefined,
};

/** For whoever has no time for a search; what is linked, named or labelled alike is found without one. */
export const UNSEARCHED: Look = { ...NO_LOOK, isUnsearched: true };
