import { lostClaim } from "../../judge/claims.ts";
import { LEASE } from "../../model/claim.ts";
import { Failure } from "../../model/failure.ts";
import type { Claims } from "../../ports/claims.ts";
import type { Hands } from "../../ports/hands.ts";
import { openRunsOf } from "../run/run-records.ts";
import { claimingRemote } from "./claiming-remote.ts";
import { isWorkedOnHere, settleClaim } from "./settle-claim.ts";
import { isUntold } from "./take-claim.ts";

/**
 * Renews this clone's claim on the task: for a short time while an agent does, for a long one while its work
 * waits for a person. A manager leaves nothing that waits, so its claim is given back. If somebody else has taken the task over since, they keep it, and that is
 * remembered and reported.
 */
export async function renewClaim(hands: Hands, task: string): Promise<string[]> {
  const { claims, remote } = await claimingRemote(hands);
  const known = claims.remembered().find((one) => one.claim.task === task && one.ours);
  if (remote === undefined || known?.remote !== remote) return [];
  if (!(await isWorkedOnHere(hands, task))) return giveBackUnlessBegun(hands, claims, task);
  const isSupervised = await hands.look((reader) => openRunsOf(reader, task).length > 0);
  const claim = { ...known.claim, until: hands.time(LEASE[isSupervised ? "supervised" : "byHand"]) };
  try {
    const pushed = await claims.push(remote, { task, old: known.commit, claim }, hands.say);
    if (pushed.ok) {
      claims.remember({ remote, commit: pushed.commit, claim, ours: true });
      return [];
    }
    const found = (await claims.look(remote, hands.say)).find((one) => one.task === task);
    const ours = found?.claim !== undefined && (await hands.git.worktrees()).isOurs(found.claim.clone);
    if (!found?.claim) claims.forget(task);
    else claims.remember({ remote, commit: found.commit, claim: found.claim, ours });
    return found?.claim && !ours ? [lostClaim(task, found.claim, hands.time())] : [];
  } catch (error) {
    if (error instanceof Failure && isUntold(error)) return [error.message];
    throw error;
  }
}

/** A command that is starting the task right now has claimed it, but has not recorded that yet. */
async function giveBackUnlessBegun(hands: Hands, claims: Claims, task: string): Promise<string[]> {
  const release = (await hands.git.worktrees()).hold(task);
  if (!release) return [];
  try {
    claims.mark(task);
    return await settleClaim(hands, task);
  } finally {
    release();
  }
}
