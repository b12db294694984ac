import { sha256 } from "../files/digest.ts";
import { pause } from "../files/pause.ts";
import { Failure } from "../model/failure.ts";
import { eventFile } from "../model/paths.ts";
import type { Plan } from "../ports/operation.ts";
import { eventsOf } from "../store/events.ts";
import { type Outcome, readAnswer, saveAnswer, transact } from "../store/transaction.ts";
import { type Answer, answerOf, type Call } from "./answer.ts";
import type { Runtime } from "./open.ts";

const PATIENCE_MS = 15_000;

/**
 * Applies a plan. When another process changed what the plan was made from, the facts are gathered and decided
 * again: nobody's write is lost, and somebody has always got further.
 */
export async function write(
  call: Call,
  first: Plan<unknown>,
  runtime: Runtime,
  key: string | undefined,
): Promise<Answer> {
  const started = Date.now();
  const said = [...call.restored];
  for (let plan = first; ; plan = await call.decide()) {
    said.push(...(await runtime.prepareState()));
    if (call.situation.clone !== runtime.home.clone) {
      // A clone gets its name with its first write, and what was decided before may have been made from an empty one.
      call.situation.clone = runtime.home.clone;
      continue;
    }
    const outcome = attempt(call, plan, runtime, key);
    if (outcome.state === "done") {
      const committed = await commitMilestone(call.milestone(plan.data), runtime);
      return answerOf(plan, [...said, ...outcome.warnings, ...committed]);
    }
    if (outcome.state === "answered")
      return sameAnswer(call.operation, call.input, key ?? "", outcome.answer);
    said.push(...outcome.warnings);
    if (Date.now() - started > PATIENCE_MS)
      throw new Failure("conflict", "record_busy", "Other commands kept changing the same record.", {
        hint: "Run the command again.",
        details: { file: outcome.path },
      });
    await pause(1 + Math.random() * 8);
  }
}

function attempt(call: Call, plan: Plan<unknown>, runtime: Runtime, key: string | undefined): Outcome {
  const effects = plan.effects ?? [];
  const { operation, input, situation } = call;
  return transact(runtime.home, {
    effects,
    events: eventsOf(operation, effects, situation, call.phase),
    log: eventFile(runtime.home.clone, situation.now),
    key:
      key === undefined
        ? undefined
        : {
            name: key,
            answer: JSON.stringify({ request: digest(operation, input), answer: answerOf(plan, []) }),
          },
  });
}

/** The answer to an earlier call with the same key, so that repeating a call does not do it again. */
export function earlierAnswer(
  operation: string,
  input: unknown,
  key: string,
  runtime: Runtime,
): Answer | undefined {
  const stored = readAnswer(runtime.home, key);
  return stored === undefined ? undefined : sameAnswer(operation, input, key, stored);
}

function sameAnswer(operation: string, input: unknown, key: string, stored: string): Answer {
  const { request, answer } = JSON.parse(stored) as { request: string; answer: Answer };
  if (request === digest(operation, input)) return answer;
  throw new Failure("conflict", "key_used", `The key "${key}" was used for another call.`, {
    hint: "Use a new key for a new call, and the same key only to repeat a call.",
    details: { key },
  });
}

const digest = (operation: string, input: unknown) => sha256(`${operation} ${JSON.stringify(input)}`);

/** A procedure makes several changes, so its answer is kept after the last one, for a repeated call. */
export function keepAnswer(
  operation: string,
  input: unknown,
  key: string,
  answer: Answer,
  runtime: Runtime,
): void {
  saveAnswer(runtime.home, key, JSON.stringify({ request: digest(operation, input), answer }));
}

async function commitMilestone(message: string | undefined, runtime: Runtime): Promise<string[]> {
  if (message === undefined) return [];
  try {
    return await runtime.commitState(message);
  } catch (error) {
    // The records are safe on disk; only their place in the history waits for the next milestone.
    const reason = error instanceof Error ? error.message : String(error);
    return [`Recorded, but not yet committed to the state's history: ${reason}`];
  }
}
