import type { Likeness } from "../../ports/ports.ts";

/** What only git and the search index know. */
export interface Look {
  /** Undefined when git could not say. */
  isDirty: boolean | undefined;
  /** Files that this task changed, as far as git can tell from here. */
  changed: string[];
  /** Records with similar words, with the same files, or that name this task. */
  alike: Likeness[];
  /** Why the search index could not be read. */
  searchProblem: string | undefined;
  /** The search index was not asked. */
  isUnsearched?: true;
}

export const NO_LOOK: Look = {
  isDirty: undefined,
  changed: [],
  alike: [],
  searchProblem: undefined,
};

/**
 * For callers with no time to search; records that are linked, mentioned or labelled alike are found without
 * it.
 */
export const UNSEARCHED: Look = { ...NO_LOOK, isUnsearched: true };
