import type { RunRepo } from "../model/records/run.ts";
import type { Site } from "./sites.ts";

/** What git says about one repository of a run, of which `head` and `base` are names of commits. */
export interface BranchState {
  /** Where the worktree is on this machine. */
  path: string;
  /** The tip of the task's branch, and of its base; undefined where there is no such branch. */
  head: string | undefined;
  base: string | undefined;
  tree: string | undefined;
  /** The base's tip is part of the branch. */
  contained: boolean;
  /** The branch differs from where it left the base. */
  changed: boolean;
  /** Paths that a merge of the moved base would conflict in. */
  conflicts: string[];
  /** Files that differ from the branch's tip, or are new; undefined when the worktree is gone. */
  dirty: string[] | undefined;
  /** Modified tracked files in checkouts of the base branch. */
  targetDirty: {
    worktree: string;
    files: string[];
    /** Those of them that an agent's session was seen to change. */
    strays: string[];
  }[];
  /** `.pawl/config.yaml` as it is committed on the base's tip, and as it lies in the worktree and the main one. */
  policy: { base: string | undefined; worktree: string | undefined; main: string | undefined };
  /** The files that pawl installed are there, but not in the base. */
  surfacesMissing: boolean;
  /** The branch that the remote calls its default, if it is known here. */
  defaultBranch: string | undefined;
}

/** Reads of the repositories that a run works in; nothing is changed. */
export interface Branches {
  /** `fresh`: nothing that was remembered, only what git itself says now. */
  look(repo: RunRepo, options?: { fresh?: boolean }): Promise<BranchState>;
  /** The same of two commits, wherever they came from: no branch and no worktree has a say. */
  between(site: Site, head: string, base: string): Promise<BranchState>;
  /** The files that the branch changed since it left its base. */
  changes(repo: RunRepo): Promise<string[]>;
  /** Whether all of these commits are part of the branch. */
  contains(repo: RunRepo, commits: readonly string[], options?: { fresh?: boolean }): Promise<boolean>;
  /** Whether all that was changed from one commit to another is taken back at this one. */
  undone(
    repo: string,
    head: string,
    change: { from: string; to: string },
    options?: { fresh?: boolean },
  ): Promise<boolean>;
  /** The commit that a ref of the repository names. */
  ref(repo: string, ref: string): string | undefined;
  /** `.pawl/config.yaml` as the base's tip has it, and as it lies in the main worktree. */
  policy(repo: Pick<RunRepo, "name" | "base_branch">): Promise<Omit<BranchState["policy"], "worktree">>;
  /** The tip of the run's branch; undefined when it is gone or the repository is not on this machine. */
  tip(repo: Pick<RunRepo, "name" | "branch">): string | undefined;
}
