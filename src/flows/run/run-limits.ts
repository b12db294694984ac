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

/** None of the known programs has a limit on time of its own, and all of them have been seen to hang. */
const USUAL_SECONDS = 60 * 60;
const LOG_BYTES = 50_000_000;

export function limitsOf(words: LimitWords, before?: RunLimits | undefined): RunLimits {
  return {
    time: words.time === undefined ? (before?.time ?? USUAL_SECONDS) : parseDuration(words.time, "time"),
    idle: words.idle === undefined ? before?.idle : parseDuration(words.idle, "idle"),
    cost: words.cost === undefined ? before?.cost : parseCost(words.cost),
    turns: words.turns ?? before?.turns,
    log: before?.log ?? LOG_BYTES,
  };
}

function parseCost(text: string): string {
  if (/^\d{1,6}(?:\.\d{1,2})?$/.test(text) && Number(text) > 0) return text;
  throw new Failure("usage", "bad_cost", `"${text.slice(0, 40)}" is not an amount of US dollars.`, {
    hint: "Write it like this: --cost 2.50",
    details: { field: "cost" },
  });
}

/** A limit that nobody can tell when it is reached would be a promise without a keeper. */
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

const untold = (field: string, message: string, hint: string) =>
  new Failure("usage", "limit_unknown", message, { hint, details: { field } });
