import { parseTaskId } from "../../model/ids.ts";
import type { Hands } from "../../ports/hands.ts";
import { checkTyped, expectTerminal, leaving, refuseAgents } from "../human-only.ts";

/** A human at a terminal, or nobody. */
export async function expectHuman(hands: Hands): Promise<void> {
  await refuseAgents(hands, "approve a merge");
  await expectTerminal(hands);
}

/** Asks until something else than `d` is typed, which shows the diff where there is one to show. */
export async function confirm(
  hands: Hands,
  task: string,
  question: string,
  /** How things stand for somebody who stops here, and how to continue. */
  left: string,
  showDiff?: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const typed = await leaving(hands.ask(question), left);
    if (!showDiff || typed?.trim().toLowerCase() !== "d")
      return checkTyped(typed, task, (word) => isTask(word, task), left);
    await showDiff();
  }
}

/** People may type t1 for T0001, as everywhere, but a bare number is too easily hit. */
function isTask(typed: string, task: string): boolean {
  try {
    return /^t/i.test(typed.trim()) && parseTaskId(typed) === task;
  } catch {
    return false;
  }
}
