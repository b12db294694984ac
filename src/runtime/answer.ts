import type { Phase } from "../ports/hands.ts";
import type { Body, Next, Plan, Situation } from "../ports/operation.ts";

export interface Answer {
  data: unknown;
  body?: Body;
  live?: Plan<unknown>["live"];
  next: Next | undefined;
  warnings: string[];
  ready: boolean;
  undecided?: boolean;
  /** What would have been done, in a dry run. */
  planned?: { do: string; path: string; record?: string }[];
}

export interface RunOptions {
  dryRun?: boolean;
  /** The same key answers once and is applied once, however often the call is repeated. */
  key?: string | undefined;
}

/** One call on its way: what it was given, and how to decide it again when another process was faster. */
export interface Call {
  /** The id that its events carry. */
  operation: string;
  input: unknown;
  situation: Situation;
  restored: string[];
  /** The words of the state's commit, if this is a step in a task's life. */
  milestone(data: unknown): string | undefined;
  phase?: Phase | undefined;
  decide(): Promise<Plan<unknown>>;
}

export function answerOf(plan: Plan<unknown>, said: readonly string[]): Answer {
  return {
    data: plan.data,
    ...(plan.body ? { body: plan.body } : {}),
    ...(plan.live ? { live: plan.live } : {}),
    ...(plan.undecided ? { undecided: true } : {}),
    next: plan.next,
    warnings: [...said, ...(plan.warnings ?? [])],
    ready: !plan.notReady,
  };
}

/** 0 done or ready, 1 not ready, 2 could not tell; of a live view, as it ended. */
export function exitCodeOf({ ready, undecided, live }: Answer): number {
  if (undecided) return 2;
  return (live ? live.endsWell() : ready) ? 0 : 1;
}
