import type { Site } from "./sites.ts";

/** What lies uncommitted in a repository's main checkout. */
export interface MainCheckout {
  root: string;
  /** Undefined before the first commit. */
  head: string | undefined;
  branch: string | undefined;
  /** A merge, rebase or the like that was begun there and not ended. */
  operation: string | undefined;
  /** Files that differ from the commit, new ones included, as git names them. */
  files: string[];
  /** Those of the files that git tracks. */
  tracked: string[];
  /** Nested repositories and submodules, which stay where they are. */
  others: string[];
  /** Those of the files that an agent's session was seen to change. */
  noted: string[];
}

/** Changes of the main checkout, saved as a commit that a ref keeps. */
export interface Saved {
  site: Site;
  checkout: MainCheckout & { head: string };
  files: readonly string[];
  /** The commit of main with exactly these changes. */
  commit: string;
  ref: string;
  /** What was staged and lies in no file any more is kept beside, and not moved. */
  staged: boolean;
}

export type Placing =
  | { fits: true; tree: string; from: string; worktree: string }
  | { fits: false; conflicts: string[] };

/** Moving uncommitted work from a main checkout to where it belongs. Every act may be repeated. */
export interface Rescues {
  /** Undefined for a repository without a main worktree. */
  look(site: Site): Promise<MainCheckout | undefined>;
  save(site: Site, checkout: MainCheckout, files: readonly string[], task: string): Promise<Saved>;
  /** What the worktree would hold with these changes; nothing is written. */
  plan(saved: Saved, worktree: string): Promise<Placing>;
  /** Writes them into the worktree, beside whatever is uncommitted there. */
  place(saved: Saved, placing: Extract<Placing, { fits: true }>): Promise<void>;
  /** Puts the main checkout's files and their staged copies back to its commit; answers with what went less than well. */
  clear(saved: Saved): Promise<string[]>;
}
