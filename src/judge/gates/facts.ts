import type { Checks } from "../../model/config.ts";
import type { Evidence, Finding, Handoff, Review } from "../../model/records/parts.ts";
import type { Run, RunRepo } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { BranchState } from "../../ports/branches.ts";

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
  guarded: boolean;
  /** The commit and the patch that the run's record names are there. */
  snapshotKept: boolean;
  /** Findings about this repository whose fixing commit is not part of the branch. */
  lostFixes: string[];
  checks: Checks;
}
