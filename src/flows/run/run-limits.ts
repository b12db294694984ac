import { parseDuration } from "../../model/duration.ts";
import { Failure } from "../../model/failure.ts";
import type { RunLimits } from "../../model/records/attempt.ts";

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
