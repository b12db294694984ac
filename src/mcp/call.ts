import type { Actor } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import { type Parsed, parseInput } from "../model/input.ts";
import { operations } from "../ops/index.ts";
import type { AnyOperation } from "../ports/operation.ts";
import type { Answer } from "../runtime/answer.ts";
import { agentsAbove } from "../runtime/caller.ts";
import type { Surroundings } from "../runtime/open.ts";
import { run } from "../runtime/run.ts";
import { standing } from "../runtime/workplaces.ts";
import { ANCESTORS } from "./ancestors.ts";
import { showAnswer, showFailure, type ToolResult } from "./answer.ts";
import { openFor } from "./place.ts";
import { fieldsOf } from "./schema.ts";
import { DRY_RUN, type Tier, TOOLS, type ToolSpec, toolId, toolName } from "./tools.ts";

/** Who calls, and how to reach them while the call runs. */
export interface Caller {
  env: Surroundings["env"];
  /** Used where the environment does not tell which agent this is; nobody over here is ever a human. */
  agent: Actor;
  signal: AbortSignal;
  progress: Surroundings["progress"];
}

/** One call of a tool. Whatever goes wrong is an answer, so that the agent learns what to do instead. */
export async function callTool(tier: Tier, name: string, args: unknown, caller: Caller): Promise<ToolResult> {
  try {
    const wanted = name === DRY_RUN ? rehearsed(args) : { tool: name, args, dryRun: false };
    const id = toolId(wanted.tool, tier);
    const spec = id === undefined ? undefined : TOOLS[id];
    if (id === undefined || !spec) throw notOffered(wanted.tool);
    const operation = await loadOperation(id);
    const { dryRun } = wanted;
    const answer = await callOperation(operation, spec, tier, wanted.args, { ...caller, dryRun });
    return await showAnswer(operation, spec, answer);
  } catch (error) {
    return showFailure(error instanceof Failure ? error : ourBug(error));
  }
}

/** The call that a dry run is about. */
function rehearsed(args: unknown): { tool: string; args: unknown; dryRun: true } {
  const { tool, input, ...others } = objectOf(args);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownField(unknown);
  if (typeof tool !== "string") throw badInput("tool", `"tool" must be the name of a tool`);
  return { tool, args: input, dryRun: true };
}

export async function callOperation(
  operation: AnyOperation,
  spec: ToolSpec,
  tier: Tier,
  args: unknown,
  { dryRun = false, ...caller }: Caller & { dryRun?: boolean },
): Promise<Answer> {
  const fields = sortArguments(operation, spec, tier, args);
  const parsed = parseInput(operation.input, fields) as Parsed<Record<string, unknown>>;
  const { runtime, input } = await openFor(operation, spec, parsed, around(caller));
  return run(operation, input, runtime, { dryRun });
}

export async function loadOperation(id: string): Promise<AnyOperation> {
  const load = operations[id];
  if (!load) throw new Error(`The registry has no operation "${id}"`);
  return load();
}

/** Everything is looked up anew for each call: the folder may have moved, and others write to the same state. */
function around({ env, agent, signal, progress }: Caller): Surroundings {
  return {
    cwd: standing(),
    env,
    agent,
    above: agentsAbove,
    operations: Object.keys(operations),
    signal,
    progress,
    oneShot: false,
    ask: async () => undefined,
  };
}

/** Fields that are not offered are as unknown as any other word; the operation checks the rest. */
function sortArguments(operation: AnyOperation, spec: ToolSpec, tier: Tier, args: unknown) {
  const known = fieldsOf(operation, spec, tier);
  const fields = objectOf(args);
  for (const field of Object.keys(fields)) if (!known.includes(field)) throw unknownField(field);
  return fields;
}

function objectOf(args: unknown): Record<string, unknown> {
  if (args === undefined) return {};
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return { ...args };
  throw badInput("arguments", `"arguments" must be an object`);
}

function unknownField(field: string): Failure {
  return badInput(field, `"${field.slice(0, 60)}" is not an option here`);
}

function badInput(field: string, problem: string): Failure {
  return new Failure("usage", "bad_input", problem, { details: { field: field.slice(0, 60) } });
}

function notOffered(name: string): Failure {
  const shown = name.slice(0, 60);
  const id = Object.keys(operations).find((one) => toolName(one) === name);
  if (id === undefined) return unheardOf(name);
  const [message, hint] = TOOLS[id]
    ? [
        "is not in the set of tools that this server was registered with",
        `It comes with \`pawl mcp --tools ${TOOLS[id].tier}\`.`,
      ]
    : ["is not for agents", "Ask the person you work for to run it in their own terminal."];
  return new Failure("refused", "not_offered", `"${shown}" ${message}.`, { hint, details: { tool: shown } });
}

/** Agents that learned an earlier system ask for its tools. */
function unheardOf(name: string): Failure {
  const shown = name.slice(0, 60);
  const here = Object.hasOwn(ANCESTORS, name) ? ANCESTORS[name] : undefined;
  const message = `There is no tool "${shown}".`;
  return new Failure("not_found", "no_tool", message, here ? { hint: `Here that is ${here}.` } : {});
}

function ourBug(error: unknown): Failure {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`pawl mcp: ${stack}\n`);
  return new Failure("internal", "internal", "This is a bug in pawl, not your mistake.", {
    hint: "Please report it; the server's log says more.",
    cause: error,
  });
}
