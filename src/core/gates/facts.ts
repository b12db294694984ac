import type { Check } from "../config.ts";
import type { Evidence, Finding, Handoff, Review } from "../records/parts.ts";
import type { Run, RunRepo } from "../records/run.ts";
import type { Task } from "../records/task.ts";

/** What the store says about a task; every part of it could be read. */
export interface RecordFacts {
  task: Task;
  run: Run | undefined;
  findings: Finding[];
  evidence: Evidence[];
  reviews: Review[];
  handoffs: Handoff[];
  /** Tasks it depends on that are neither merged nor done. */
  waitingFor: string[];
}

/** What git says about one repository of the run. */
export interface RepoFacts {
  repo: RunRepo;
  /** Where its worktree is on this machine. */
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
  /** The tree of the worktree, uncommitted files included, is that of the branch; undefined when it is gone. */
  dirty: readonly string[] | undefined;
  /** Modified tracked files in checkouts of the base branch. */
  targetDirty: { worktree: string; files: string[] }[];
  isProtected: boolean;
  /** The files that pawl installed are there, but not in the base. */
  surfacesMissing: boolean;
  checks: Check[];
}
