import { Failure } from "../failure.ts";
import type { Hands } from "../hands.ts";
import { refuseAgents } from "../human-only.ts";
import { parseTaskId } from "../ids.ts";

/** A human at a terminal, or nobody: known before anything slow is begun. */
export async function expectHuman(hands: Hands): Promise<void> {
  await refuseAgents(hands, "approve a merge");
  if ((await hands.ask("")) === undefined) throw noTerminal();
}

/** The task's id, typed; anything else is a no. */
export async function confirm(hands: Hands, task: string, question: string): Promise<void> {
  const typed = await hands.ask(question);
  if (typed === undefined) throw noTerminal();
  if (isTask(typed, task)) return;
  throw new Failure("refused", "not_confirmed", `Not confirmed: "${typed.slice(0, 40)}" is not ${task}.`, {
    hint: "Nothing was changed.",
    details: { task },
  });
}

/** People may type t1 for T0001, as everywhere, but a bare number is too easily hit. */
function isTask(typed: string, task: string): boolean {
  try {
    return /^t/i.test(typed.trim()) && parseTaskId(typed) === task;
  } catch {
    return false;
  }
}

function noTerminal(): Failure {
  return new Failure("refused", "no_terminal", "There is no terminal on which a human could confirm it.", {
    hint: "Run it in a terminal, not through a pipe, a script or an agent.",
  });
}
