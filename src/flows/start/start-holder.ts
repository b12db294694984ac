import { isHuman } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { TASK_PARTS } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import { partsOf } from "./start-carry-out.ts";

/** A holder that has done nothing for so long may be dead. */
const SILENCE_MINUTES = 30;

/**
 * Refuses to an agent what somebody else may still be working on. A human may always override that, and a run
 * that has ended can be taken without asking.
 */
export async function checkHolder(hands: Hands, value: Run): Promise<void> {
  const { actor } = await hands.situation("write");
  const over = value.ended !== undefined || ["succeeded", "failed", "interrupted"].includes(value.status);
  const human = isHuman(actor) && hands.agent === undefined;
  if (human || over || value.holder === actor) return;
  const worktrees = await hands.git.worktrees();
  const records = await hands.look((reader) => lastRecord(reader, value));
  const signs = (await partsOf(hands, value)).flatMap(({ place }) => {
    const { worktree } = worktrees.whereabouts(place);
    return (worktree && worktrees.lastSign(place.site, worktree)) ?? [];
  });
  const [git] = signs.sort().reverse();
  const latest = git !== undefined && git > records ? git : records;
  if (latest <= hands.time(-SILENCE_MINUTES)) return;
  throw new Failure(
    "refused",
    "holder_alive",
    `${value.holder} holds ${value.id} and was last seen at ${latest}.`,
    {
      hint: `Wait until it has been silent for ${SILENCE_MINUTES} minutes, or ask the person you work for.`,
      details: { run: value.id, holder: value.holder, last_record: records, last_git: git },
    },
  );
}

/** When the holder last wrote something down; the run's own record counts, whoever changed it. */
function lastRecord(reader: Reader, value: Run): string {
  const times = TASK_PARTS.flatMap((kind) =>
    reader
      .parts(kind, taskOf(value.id))
      .records.map((one) => one.value as { actor: string; updated: string })
      .filter((one) => one.actor === value.holder)
      .map((one) => one.updated),
  );
  return [value.updated, ...times].sort().at(-1) ?? value.updated;
}
