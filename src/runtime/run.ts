import type * as z from "zod/mini";
import { Failure } from "../core/failure.ts";
import { parseInput } from "../core/input.ts";
import type { AnyOperation, Next, Plan } from "../core/operation.ts";
import { eventFile } from "../core/paths.ts";
import { NeedsFullYaml } from "../core/record.ts";
import { eventsOf } from "../store/events.ts";
import { readAnswer, transact } from "../store/transaction.ts";
import type { Runtime } from "./open.ts";

export interface Answer {
  data: unknown;
  next: Next | undefined;
  warnings: string[];
  ready: boolean;
  /** What a dry run would have done. */
  planned?: { do: string; path: string; record: string }[];
}

export interface RunOptions {
  dryRun?: boolean;
  /** The same key answers once and is applied once, however often the call is repeated. */
  key?: string | undefined;
}

const PATIENCE_MS = 15_000;

/** The life of every call from every surface: parse, observe, gather, decide, apply. */
export async function run(
  operation: AnyOperation,
  raw: unknown,
  runtime: Runtime,
  options: RunOptions = {},
): Promise<Answer> {
  const input: z.output<typeof operation.input> = parseInput(operation.input, raw);
  const request =
    options.key === undefined ? undefined : describeRequest(operation, input, options.key, runtime);
  const earlier = request && earlierAnswer(request, readAnswer(runtime.home, request.key));
  if (earlier) return earlier;

  const restored = await runtime.restoreLostState();
  const situation = await runtime.situation(operation.access);
  const observed = await withYaml(runtime, async () =>
    operation.observe?.(runtime.world, input, situation, runtime.reader()),
  );
  const decide = () =>
    withYaml(runtime, async (): Promise<Plan<unknown>> => {
      const facts = operation.gather(runtime.reader(), input, situation, observed);
      return operation.decide(input, facts, situation);
    });

  const started = Date.now();
  for (;;) {
    const plan = await decide();
    const told = [...restored, ...(plan.warnings ?? [])];
    if (options.dryRun || !plan.effects?.length) return answer(plan, told, options);
    const prepared = await runtime.prepareState();
    const outcome = transact(runtime.home, {
      effects: plan.effects,
      events: eventsOf(operation.id, plan.effects, situation),
      log: eventFile(runtime.home.clone, situation.now),
      key: request && {
        name: request.key,
        answer: JSON.stringify({ ...request, answer: answer(plan, told) }),
      },
    });
    if (outcome.state === "done") {
      const committed = await commitMilestone(operation, plan, runtime);
      return answer(plan, [...prepared, ...told, ...outcome.warnings, ...committed]);
    }
    if (outcome.state === "answered" && request) {
      const same = earlierAnswer(request, outcome.answer);
      if (same) return same;
    }
    if (Date.now() - started > PATIENCE_MS)
      throw new Failure("conflict", "record_busy", "Other commands kept changing the same record.", {
        hint: "Run the command again.",
        details: outcome.state === "conflict" ? { file: outcome.path } : {},
      });
    await new Promise((resume) => setTimeout(resume, 1 + Math.random() * 8));
  }
}

/** A hand-styled record needs the full YAML parser; it is loaded only then, and the reading starts over. */
async function withYaml<T>(runtime: Runtime, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NeedsFullYaml)) throw error;
    await runtime.loadYaml();
    return read();
  }
}

async function commitMilestone(
  operation: AnyOperation,
  plan: Plan<unknown>,
  runtime: Runtime,
): Promise<string[]> {
  const message = operation.milestone?.(plan.data);
  if (message === undefined) return [];
  try {
    await runtime.commitState(message);
    return [];
  } catch (error) {
    // The records are safe on disk; only their place in the history waits for the next milestone.
    const reason = error instanceof Error ? error.message : String(error);
    return [`Recorded, but not yet committed to the state's history: ${reason}`];
  }
}

function answer(plan: Plan<unknown>, warnings: string[], options: RunOptions = {}): Answer {
  const planned = options.dryRun
    ? { planned: (plan.effects ?? []).map(({ do: what, path, record }) => ({ do: what, path, record })) }
    : {};
  return {
    data: plan.data,
    next: plan.next,
    warnings,
    ready: !plan.notReady,
    ...planned,
  };
}

interface Request {
  key: string;
  operation: string;
  input: string;
}

function describeRequest(operation: AnyOperation, input: unknown, key: string, runtime: Runtime): Request {
  return { key, operation: operation.id, input: runtime.sha256(JSON.stringify(input)) };
}

function earlierAnswer(request: Request, stored: string | undefined): Answer | undefined {
  if (stored === undefined) return undefined;
  const earlier = JSON.parse(stored) as Request & { answer: Answer };
  if (earlier.operation !== request.operation || earlier.input !== request.input)
    throw new Failure("conflict", "key_used", `The key "${request.key}" was used for another call.`, {
      hint: "Use a new key for a new call; the same key only for repeating the same one.",
      details: { key: request.key, operation: earlier.operation },
    });
  return earlier.answer;
}
