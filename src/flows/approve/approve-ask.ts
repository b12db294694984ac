import { parseTaskId } from "../../model/ids.ts";
import type { Hands } from "../../ports/hands.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../human-only.ts";

/** A human at a terminal, or nobody. */
export async function expectHuman(hands: Hands): Promise<void> {
  await refuseAgents(hands, "approve a merge");
  await expectTerminal(hands);
}

export function confirm(hands: Hands, task: string, question: string): Promise<void> {
  return confirmTyped(hands, question, task, (typed) => isTask(typed, task));
}

/** People may type t1 for T0001, as everywhere, but a bare number is too easily hit. */
function isTask(typed: string, task: string): boolean {
  try {
    return /^t/i.test(typed.trim()) && parseTaskId(typed) === task;
  } catch {
    return false;
  }
}
