import type { Checks } from "../../model/config.ts";
import type { Evidence, Finding, Handoff, Review } from "../../model/records/parts.ts";
import type { Run, RunRepo } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { BranchState } from "../../ports/branches.ts";

/** What the store says about a task, with every record readable. */
export interface RecordFacts {
  task: Task;
  run: Run | undefined;
  findings: Finding[];
  evidence: Evidence[];
  reviews: Review[];
  handoffs: Handoff[];
  /** Everybody known to have worked on it: a review by one of them does not count. */
  authors: string[];
  /** Tasks it depends on that are neither merged nor done. */
  waitingFor: string[];
}

/** What git says about one repository of the run, and what the policy makes of that. */
export interface RepoFacts extends Omit<BranchState, "policy" | "defaultBranch"> {
  repo: RunRepo;
  isProtected: boolean;
  guarded: boolean;
  /** The commit and the patch that the run's record names still exist. */
  snapshotKept: boolean;
  /** Findings about this repository whose fixing commit is not on the branch. */
  lostFixes: string[];
  checks: Checks;
  /** Why nobody could sign an approval of this work, or of anything after it. */
  unsignable?: string | undefined;
}
