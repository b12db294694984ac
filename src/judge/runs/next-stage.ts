import type { Role, RunReason, RunStatus } from "../../model/records/attempt.ts";
import type { Reason } from "../gates/gate.ts";

/** One run that a pipeline started, from its record. */
export interface Stage {
  run: string;
  role: Role | undefined;
  status: RunStatus;
  reason: RunReason | undefined;
  attempts: number;
  /** For a fixer: the state of the work when it started. */
  basis: string | undefined;
}

/**
 * Everything that decides what comes next. All of it is in git and in the records, so the answer can always
 * be computed again.
 */
export interface PipelineFacts {
  /** In the order in which they were started. */
  stages: readonly Stage[];
  /** What keeps a human from approving, including a missing review. */
  reasons: readonly Pick<Reason, "code" | "owner" | "record" | "repo">[];
  /** The verdict on exactly these commits, if a reviewer who counts has given one. */
  verdict: "pass" | "fail" | undefined;
  /** A digest of the trees, the open findings and everything else that the author has to settle. */
  state: string;
  /** The most rounds of fixing. */
  rounds: number;
}

export type NextStage =
  | { do: "wait"; run: string }
  | { do: "resume"; run: string }
  | { do: "start"; role: "author" | "reviewer" | "fixer" }
  | { do: "end"; reason: RunReason | undefined; words: string };

/** A stage that was cut off through no fault of its own is resumed once. */
const MOST_ATTEMPTS = 2;
/** If a reviewer leaves no verdict, one more is started. */
const MOST_SILENT_REVIEWERS = 2;

/**
 * What a pipeline does next: an author, then reviewers and fixers in turn. It succeeds when only a human's
 * approval is left; if it cannot get there, it stops and says why.
 */
export function nextStage(facts: PipelineFacts): NextStage {
  const last = facts.stages.at(-1);
  if (!last) return { do: "start", role: "author" };
  return afterLast(last) ?? afterWork(facts, last);
}

/** What follows from the latest stage alone. */
function afterLast(last: Stage): NextStage | undefined {
  switch (last.status) {
    case "starting":
    case "running":
      return { do: "wait", run: last.run };
    case "interrupted":
      if (isOnPurpose(last.reason)) return ended(last.reason, `${last.run} was stopped (${last.reason}).`);
      if (last.attempts < MOST_ATTEMPTS) return { do: "resume", run: last.run };
      return ended(last.reason ?? "exit", `${last.run} was cut off ${last.attempts} times (${last.reason}).`);
    case "kept":
      return ended("stopped", `${last.run} was set aside.`);
    case "failed":
      return ended(last.reason ?? "exit", `${last.run} failed (${last.reason}).`);
    case "succeeded":
      return undefined;
  }
}

const isOnPurpose = (reason: RunReason | undefined) => reason === "stopped" || reason?.startsWith("limit_");

function afterWork(facts: PipelineFacts, last: Stage): NextStage {
  const { stages, reasons, verdict } = facts;
  const owners = new Set(reasons.map((one) => one.owner));
  // A reviewer reads what the author calls done, so the author's open points come first.
  if (owners.has("author") || verdict === "fail") return fix(facts);
  if (owners.has("reviewer")) {
    const silent = stages.length - 1 - stages.findLastIndex((one) => one.role !== "reviewer");
    if (silent < MOST_SILENT_REVIEWERS) return { do: "start", role: "reviewer" };
    return ended("no_result", `${last.run} ended without a verdict, like the one before it.`);
  }
  return ended(undefined, "All that is left is a human's approval.");
}

/** Another round, unless the last one changed nothing or no rounds are left. */
function fix({ stages, state, rounds, reasons }: PipelineFacts): NextStage {
  const fixers = stages.filter((one) => one.role === "fixer");
  // A part's id, such as a finding's, says more than the code; the task's own id says nothing.
  const named = ({ record, code }: Pick<Reason, "code" | "record">) =>
    record?.includes("/") ? record : code;
  const open = [...new Set(reasons.filter((one) => one.owner === "author").map(named))];
  const left = open.length === 0 ? "the last review says fail" : `still open: ${open.join(", ")}`;
  if (fixers.at(-1)?.basis === state)
    return ended("no_progress", `${fixers.at(-1)?.run} changed nothing; ${left}.`);
  if (fixers.length >= rounds)
    return ended("rounds_exhausted", `All ${rounds} rounds of fixing are used up; ${left}.`);
  return { do: "start", role: "fixer" };
}

const ended = (reason: RunReason | undefined, words: string): NextStage => ({ do: "end", reason, words });
