import { parseDuration } from "../../model/duration.ts";
import { Failure } from "../../model/failure.ts";
import type { RunLimits } from "../../model/records/attempt.ts";
import type { FoundAgent } from "../../ports/agents.ts";

/** What a command line may say about limits. */
export interface LimitWords {
  time?: string | undefined;
  idle?: string | undefined;
  cost?: string | undefined;
  turns?: number | undefined;
}

/** No known program limits its own running time, and all of them have been seen to hang. */
const USUAL_SECONDS = 60 * 60;
const LOG_BYTES = 50_000_000;

export function limitsOf(words: LimitWords, before?: RunLimits | undefined): RunLimits {
  return {
    time: words.time === undefined ? (before?.time ?? USUAL_SECONDS) : someTime(words.time, "time"),
    idle: words.idle === undefined ? before?.idle : someTime(words.idle, "idle"),
    cost: words.cost === undefined ? before?.cost : parseCost(words.cost),
    turns: words.turns ?? before?.turns,
    log: before?.log ?? LOG_BYTES,
  };
}

/** With none at all the agent would be started only to be stopped. */
function someTime(text: string, field: "time" | "idle"): number {
  const seconds = parseDuration(text, field);
  if (seconds > 0) return seconds;
  throw new Failure("usage", "bad_duration", `--${field} ${text} leaves the agent no time at all.`, {
    hint: `Write --${field} 90s, --${field} 45m or --${field} 1h30m.`,
    details: { field },
  });
}

function parseCost(text: string): string {
  if (/^\d{1,6}(?:\.\d{1,2})?$/.test(text) && Number(text) > 0) return text;
  throw new Failure("usage", "bad_cost", `"${text.slice(0, 40)}" is not an amount of US dollars.`, {
    hint: "Write it like this: --cost 2.50",
    details: { field: "cost" },
  });
}

/** Refuses limits that the program gives no way to measure: they would never take effect. */
export function expectTellable(
  { turns, cost }: Pick<RunLimits, "turns" | "cost">,
  { name, tells }: Pick<FoundAgent, "name" | "tells">,
): void {
  if (turns !== undefined && !tells.turns)
    throw untold("turns", `${name} does not report its turns while it runs.`, "Use --time: --time 30m");
  if (cost !== undefined && !tells.cost)
    throw untold(
      "cost",
      `${name} does not report its cost while it runs.`,
      tells.turns ? "Use --turns or --time: --turns 40, --time 30m" : "Use --time: --time 30m",
    );
}

/** What is left of earlier limits for an agent that may not tell all of them; a limit that goes is not lost without a word. */
export function keepTellable(
  before: RunLimits | undefined,
  { name, tells }: Pick<FoundAgent, "name" | "tells">,
  say: (line: string) => void,
): RunLimits | undefined {
  const lost = (["turns", "cost"] as const).filter((one) => before?.[one] !== undefined && !tells[one]);
  if (!before || lost.length === 0) return before;
  say(`${name} does not report its ${lost.join(" or ")}, so the limit on that no longer applies.`);
  return { ...before, ...Object.fromEntries(lost.map((one) => [one, undefined])) };
}

const untold = (field: string, message: string, hint: string) =>
  new Failure("usage", "limit_unknown", message, { hint, details: { field } });
