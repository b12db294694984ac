import type { RunRepo } from "../records/run.ts";

/** What git says about one repository of a run, of which `head` and `base` are names of commits. */
export interface BranchState {
  /** Where the worktree is on this machine. */
  path: string;
  head: string | undefined;
  base: string | undefined;
  tree: string | undefined;
  contained: boolean;
  changed: boolean;
  conflicts: string[];
  /** Files that differ from the branch's tip, or are new; undefined when the worktree is gone. */
  dirty: string[] | undefined;
  targetDirty: { worktree: string; files: string[] }[];
  /** `.pawl/config.yaml` as it is committed on the base's tip, and as it lies in the worktree and the main one. */
  policy: { base: string | undefined; worktree: string | undefined; main: string | undefined };
  surfacesMissing: boolean;
  /** The branch that the remote calls its default, if it is known here. */
  defaultBranch: string | undefined;
}

/** Reads of the repositories that a run works in; nothing is changed. */
export interface Branches {
  look(repo: RunRepo): Promise<BranchState>;
  /** The tip of the run's branch; undefined when it is gone or the repository is not on this machine. */
  tip(repo: Pick<RunRepo, "name" | "branch">): string | undefined;
}
