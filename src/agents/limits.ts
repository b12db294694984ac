import type { RunReason } from "../model/records/attempt.ts";
import type { AgentProgress } from "../ports/agents.ts";
import type { AttemptSpec } from "./attempt/folder.ts";

/** What a limit is compared with. */
export interface Spent {
  elapsedMs: number;
  /** Since the stream last grew. */
  silentMs: number;
  logBytes: number;
  progress: AgentProgress;
}

/** Dollars, as the program says or as the project's own prices make it; undefined where neither can tell. */
export function costOf(
  progress: Pick<AgentProgress, "cost" | "tokens">,
  prices: AttemptSpec["prices"],
): number | undefined {
  if (progress.cost !== undefined || !prices) return progress.cost;
  const { input, cached, output } = progress.tokens;
  // Cached tokens are part of the input, at a price of their own.
  return ((input - cached) * prices.input + cached * prices.cached + output * prices.output) / 1e6;
}

/** The limit that has been reached, if any. A model that is waited for is no silence. */
export function reachedLimit(
  spec: Pick<AttemptSpec, "limits" | "prices">,
  spent: Spent,
): RunReason | undefined {
  const { limits, prices } = spec;
  const { progress } = spent;
  if (spent.elapsedMs >= limits.timeMs) return "limit_time";
  if (spent.logBytes >= limits.log) return "limit_log";
  if (limits.turns !== undefined && progress.turns > limits.turns) return "limit_turns";
  const cost = costOf(progress, prices);
  if (limits.cost !== undefined && cost !== undefined && cost >= limits.cost) return "limit_cost";
  const isSilent = limits.idleMs !== undefined && spent.silentMs >= limits.idleMs;
  return isSilent && progress.waiting === undefined ? "limit_idle" : undefined;
}
