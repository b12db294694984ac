import * as z from "zod/mini";
import { lookAround } from "../flows/context/look-for-context.ts";
import { gatherFacts } from "../judge/context/gather.ts";
import type { Own } from "../judge/context/own.ts";
import { assemble, assembleWithoutTask, type Packet } from "../judge/context/packet.ts";
import type { Related } from "../judge/context/relate.ts";
import { nextStep } from "../judge/next-step.ts";
import { getTask } from "../judge/which-task.ts";
import { count, maybe, taskField } from "../model/input.ts";
import { warningsOf } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

const DEFAULT_BUDGET = 4_000;
const SMALLEST_BUDGET = 200;

export const context = operation({
  id: "context",
  summary: "Print everything needed to continue a task from scratch, within a budget",
  details:
    "A Markdown packet for somebody who starts cold: the task and where it stands, open findings, the latest\nhandoff, decisions, evidence, and related records with the reason each one is included. It names what is\nmissing, stays within its budget and says what it left out.",
  examples: ["pawl context", "pawl context T0001 --budget 1500", "pawl context T0001 --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    budget: maybe(
      count(`at most this many tokens (default: ${DEFAULT_BUDGET}; bytes ÷ 4)`, "TOKENS", SMALLEST_BUDGET),
    ),
  }),

  async observe(world, input, at, reader) {
    if (hasNothing(reader, input.task)) return { isDirty: await world.isDirty() };
    return lookAround(world, reader, getTask(reader, input.task, at), at);
  },

  gather(reader, input, at, observed) {
    if (!("alike" in observed)) return { isDirty: observed.isDirty };
    return gatherFacts(reader, getTask(reader, input.task, at), observed);
  },

  decide(input, facts, at) {
    const budget = input.budget ?? DEFAULT_BUDGET;
    if (!("own" in facts)) {
      const packet = assembleWithoutTask(at, facts.isDirty, budget);
      return {
        data: { context: contextOf(null, packet, budget, []) },
        next: { command: 'pawl task new "<title>"', reason: "there is no task yet" },
      };
    }
    const { task } = facts.own;
    const packet = assemble(facts, at, budget);
    return {
      data: { context: contextOf(task.id, packet, budget, facts.related) },
      warnings: warningsOf(facts.problems),
      next: nextAfterReading(facts.own),
    };
  },

  text: ({ context: { text } }) => text,
});

/** Before the first task there is nothing to choose, so nothing is refused. */
function hasNothing(reader: Reader, named: string | undefined): boolean {
  return named === undefined && reader.taskNames().length === 0;
}

function contextOf(task: string | null, packet: Packet, budget: number, related: readonly Related[]) {
  const { text, tokens, included, dropped, missing } = packet;
  return {
    task,
    text,
    tokens,
    budget,
    included,
    dropped,
    missing,
    related: related.map(({ id, kind, why, score }) => ({ id, kind, why, score })),
  };
}

/** The reader has just seen the context, so it is not the next command. */
function nextAfterReading({ task, findings, handoffs, evidence }: Own): Next | undefined {
  const open = findings.filter((one) => one.status === "open");
  const next = nextStep(task, open, handoffs.at(-1), evidence);
  return next?.command.startsWith("pawl context") ? undefined : next;
}
