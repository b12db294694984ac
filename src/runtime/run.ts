import { existsSync } from "node:fs";
import type { Parsed } from "../model/input.ts";
import type { AnyOperation, Plan, SingleOperation, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { type Answer, answerOf, type RunOptions } from "./answer.ts";
import { isInstalled, isUntouched, NOT_INSTALLED } from "./installed.ts";
import { type Runtime, readably } from "./open.ts";
import { settleLeftovers } from "./settle-leftovers.ts";
import { withYaml } from "./with-yaml.ts";

/** The life of every call, from the input that whoever calls has parsed: observe, gather, decide, apply. */
export async function run(
  operation: AnyOperation,
  input: Parsed,
  runtime: Runtime,
  options: RunOptions = {},
): Promise<Answer> {
  const untouched = !options.dryRun && !operation.asItIs && !operation.internal && isUntouched(runtime);
  const answer = await carryOut(operation, input, runtime, options);
  if (!untouched || isInstalled(runtime.place) || answer.warnings.includes(NOT_INSTALLED)) return answer;
  return { ...answer, warnings: [NOT_INSTALLED, ...answer.warnings] };
}

async function carryOut(
  operation: AnyOperation,
  input: unknown,
  runtime: Runtime,
  options: RunOptions,
): Promise<Answer> {
  if (options.key !== undefined) {
    const { earlierAnswer } = await import("./write.ts");
    const earlier = earlierAnswer(operation.id, input, options.key, runtime);
    if (earlier) return earlier;
  }
  const restored = await runtime.restoreLostState();
  const settles = operation.access === "write" && !options.dryRun && !operation.asItIs;
  if (settles) restored.push(...(await settleLeftovers(runtime)));
  else if (operation.settlesRuns) restored.push(...(await settleLeftovers(runtime, ["runs"])));
  if ("perform" in operation) {
    const { perform } = await import("./perform.ts");
    const answer = await perform(operation, input, runtime, restored, options);
    // What it merged or fetched may have brought another policy; where our own folder went with a task, the next command sees to it.
    const { root, commonDir } = runtime.place;
    if (settles && existsSync(root ?? commonDir))
      answer.warnings.push(...(await settleLeftovers(runtime, ["guards"])));
    return answer;
  }
  const situation = await runtime.situation(operation.access);
  if (options.dryRun && operation.rehearse) return rehearse(operation, input, situation, runtime);
  const reader = operation.access === "read" ? oneReader(runtime) : runtime.reader;
  const observed = await withYaml(runtime, async () =>
    operation.observe?.(runtime.world, input, situation, reader()),
  );
  const decide = () =>
    withYaml(runtime, async (): Promise<Plan<unknown>> => {
      const facts = readably(() => operation.gather(reader(), input, situation, observed));
      return operation.decide(input, facts, situation);
    });
  const plan = await decide().catch((error: unknown) =>
    answeredMeanwhile(error, operation, input, runtime, options),
  );
  if ("answered" in plan) return plan.answered;
  if (!options.dryRun && plan.effects?.length) {
    const { write } = await import("./write.ts");
    const milestone = (data: unknown) => operation.milestone?.(data);
    return write(
      { operation: operation.id, input, situation, restored, milestone, decide },
      plan,
      runtime,
      options.key,
    );
  }
  const effects = (plan.effects ?? []).map(({ do: what, path, record }) => ({ do: what, path, record }));
  return { ...answerOf(plan, restored), ...(options.dryRun ? { planned: effects } : {}) };
}

/** A read looks at the state once: what it gathers lists no task again that it has listed to observe. */
function oneReader(runtime: Runtime): () => Reader {
  let reader: Reader | undefined;
  let yaml = runtime.fullYaml();
  return () => {
    // What could not be read without the full parser is read again with it.
    if (yaml !== runtime.fullYaml()) reader = undefined;
    yaml = runtime.fullYaml();
    reader ??= runtime.reader();
    return reader;
  };
}

/** The same call, repeated at the same time, may be refused only because its twin has just done the work. */
async function answeredMeanwhile(
  error: unknown,
  operation: AnyOperation,
  input: unknown,
  runtime: Runtime,
  { key }: RunOptions,
): Promise<{ answered: Answer }> {
  const earlier =
    key === undefined
      ? undefined
      : (await import("./write.ts")).earlierAnswer(operation.id, input, key, runtime);
  if (!earlier) throw error;
  return { answered: earlier };
}

/** An operation that acts while it observes is not carried out in a dry run; it says what it would do. */
async function rehearse(
  operation: SingleOperation,
  input: unknown,
  situation: Situation,
  runtime: Runtime,
): Promise<Answer> {
  const planned = await withYaml(runtime, async () =>
    operation.rehearse?.(runtime.world, input, situation, runtime.reader()),
  );
  return { data: {}, next: undefined, warnings: [], ready: true, planned: planned ?? [] };
}
