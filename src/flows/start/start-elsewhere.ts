import { change } from "../../judge/change.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import { claimingRemote } from "../claims/claiming-remote.ts";
import { takeClaim } from "../claims/take-claim.ts";
import { begin, type Started } from "./start-carry-out.ts";
import { otherClone } from "./start-conflicts.ts";
import { planFor } from "./start-facts.ts";

/**
 * Whether a task that is to be taken over is worked on in another clone: by its run, or, where the state has not come here
 * yet, by its claim. Without a trusted remote nobody could tell the other clone, and it is refused.
 */
export async function isElsewhere(hands: Hands, task: string, current: Run | undefined): Promise<boolean> {
  const worktrees = await hands.git.worktrees();
  if (current && worktrees.isOurs(current.clone)) return false;
  const { claims, remote } = await claimingRemote(hands);
  if (current) {
    if (remote === undefined && current.ended === undefined) throw otherClone(current);
    return current.ended === undefined;
  }
  if (remote === undefined) return false;
  const found = (await claims.look(remote, hands.say)).find((one) => one.task === task);
  return found !== undefined && !(found.claim && worktrees.isOurs(found.claim.clone));
}

/**
 * Restarts here a task that another clone was working on. Its worktrees stay there, and so does what was never
 * published; its run is recorded as ended, so that whoever returns to it finds out.
 */
export async function takeOver(hands: Hands, task: string, current: Run | undefined): Promise<Plan<Started>> {
  const parts = await planFor(hands, task, false);
  const said = await takeClaim(hands, task, { over: true, lease: "byHand", must: true });
  if (current) await recordHandedOver(hands, current);
  const plan = await begin(hands, task, parts);
  const left = current
    ? [`The worktrees of ${current.id} stay in the clone ${current.clone}; unpushed work is only there.`]
    : [];
  return { ...plan, warnings: [...said, ...left, ...(plan.warnings ?? [])] };
}

/** Only what the other clone does not write by itself, so that a later exchange of both finds no conflict. */
async function recordHandedOver(hands: Hands, { id, clone }: Run): Promise<void> {
  await hands.record(
    (reader, at) => {
      const stored = reader.part(run, taskOf(id), partOf(id));
      if (stored.value.ended !== undefined) return { data: undefined };
      const reason = `taken over from the clone ${clone} by ${at.actor}`;
      const changed = change(run, stored, { ended: "kept", reason }, at, reason);
      return { data: undefined, effects: [changed.effect] };
    },
    { phase: "before", milestone: `${id}: taken over from the clone ${clone}` },
  );
}
