import type { Check } from "../config.ts";
import type { BranchState } from "../git/branches.ts";
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
  /** Whoever wrote the work, as it is known now: a review by one of them counts for nothing. */
  authors: string[];
  /** Tasks it depends on that are neither merged nor done. */
  waitingFor: string[];
}

/** What git says about one repository of the run, and what the policy makes of it. */
export interface RepoFacts extends Omit<BranchState, "policy" | "defaultBranch"> {
  repo: RunRepo;
  isProtected: boolean;
  /** The commit and the patch that the run's record names are there. */
  snapshotKept: boolean;
  /** Findings about this repository whose fixing commit is not part of the branch. */
  lostFixes: string[];
  checks: Check[];
}
