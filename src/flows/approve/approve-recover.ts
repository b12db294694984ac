import type { Hands } from "../../ports/hands.ts";
import type { Settled } from "../../ports/merges.ts";
import { closeWithMoves } from "../audit/open-unlock.ts";
import { noteRefresh } from "../refresh/refresh-records.ts";
import { landApproval, withdrawApproval } from "./approve-records.ts";

/** Finishes or takes back what killed processes left, in git and in the records. Answers what was done, in words. */
export async function recoverMerges(hands: Hands): Promise<string[]> {
  const merges = await hands.git.merges();
  return (await merges.ifNobodyElse(() => recoverHolding(hands))) ?? [];
}

/** The same for somebody who has the lock already. */
export async function recoverHolding(hands: Hands): Promise<string[]> {
  const merges = await hands.git.merges();
  const said: string[] = [];
  for (const settled of await merges.settle((line) => hands.say(line))) {
    said.push(await tellRecords(hands, settled), ...settled.notes);
    await settled.close();
  }
  return said;
}

async function tellRecords(hands: Hands, { purpose, outcome, notes }: Settled): Promise<string> {
  const done = outcome === "done";
  if (purpose.kind === "refresh") {
    if (done)
      await hands.record((reader, at) => noteRefresh(reader, at, purpose), {
        phase: "after",
        milestone: `${purpose.task}: refreshed`,
      });
    return `A refresh of ${purpose.task} was interrupted; it was ${done ? "completed" : "undone"}.`;
  }
  if (purpose.kind === "approvers") {
    await closeWithMoves(hands, purpose.unlock, done ? [purpose.move] : []);
    return `A change of the approvers (${purpose.unlock}) was interrupted; it was ${done ? "completed" : "undone"}.`;
  }
  const { task, approval: part } = purpose;
  const id = `${task}/${part}`;
  if (done) {
    await hands.record((reader, at) => landApproval(reader, at, task, part), {
      phase: "after",
      milestone: `${task}: merged, completed after an interruption (${id})`,
    });
    return `The merge of ${id} was interrupted after it was decided; it was completed.`;
  }
  const trouble = ["The process was interrupted before it was decided; everything was undone.", ...notes];
  await hands.record((reader, at) => withdrawApproval(reader, at, purpose, trouble.join("\n\n")), {
    phase: "failed",
    milestone: `${task}: not merged (${id})`,
  });
  return `The merge of ${id} was interrupted before it was decided; everything was undone.`;
}
