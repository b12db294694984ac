import { isExpired, lostClaim } from "../../judge/claims.ts";
import { Failure } from "../../model/failure.ts";
import { ENDED, LIVE } from "../../model/lifecycle.ts";
import type { Claims, FoundClaim } from "../../ports/claims.ts";
import type { Hands } from "../../ports/hands.ts";
import { claimingRemote } from "./claiming-remote.ts";
import { isWorkedOnHere, settleClaim } from "./settle-claim.ts";
import { takeClaim } from "./take-claim.ts";

/**
 * After the state was exchanged: who claims what is remembered, what is worked on here is claimed, and what is not worked
 * on any more is given back. Answers with what to tell.
 */
export async function exchangeClaims(hands: Hands, exchangedWith: string): Promise<string[]> {
  (await hands.git.claims()).share(exchangedWith);
  const { claims, remote, warnings } = await claimingRemote(hands);
  if (remote === undefined) return warnings;
  try {
    const found = await claims.look(remote, hands.say);
    await rememberAll(hands, claims, remote, found);
    return [
      ...warnings,
      ...(await giveBackOurs(hands, claims, found)),
      ...(await claimWork(hands, found)),
      ...(await sweep(hands, claims, remote, found)),
    ];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [...warnings, `Claims could not be exchanged with ${remote}: ${error.message}`];
  }
}

async function rememberAll(
  hands: Hands,
  claims: Claims,
  remote: string,
  found: readonly FoundClaim[],
): Promise<void> {
  const worktrees = await hands.git.worktrees();
  for (const { claim } of claims.remembered())
    if (!found.some((one) => one.task === claim.task)) claims.forget(claim.task);
  for (const { commit, claim } of found)
    if (claim) claims.remember({ remote, commit, claim, ours: worktrees.isOurs(claim.clone) });
}

/** Ended while the remote was out of reach, or the task has another id by now. */
async function giveBackOurs(hands: Hands, claims: Claims, found: readonly FoundClaim[]): Promise<string[]> {
  const worktrees = await hands.git.worktrees();
  const said: string[] = [];
  for (const { task, claim } of found)
    if (claim && worktrees.isOurs(claim.clone) && !(await isWorkedOnHere(hands, task)))
      said.push(
        ...(await alone(hands, task, () => {
          claims.mark(task);
          return settleClaim(hands, task);
        })),
      );
  return said;
}

/** Tasks that are worked on here and either not claimed yet or also claimed by somebody else. */
async function claimWork(hands: Hands, found: readonly FoundClaim[]): Promise<string[]> {
  const worktrees = await hands.git.worktrees();
  const live = await hands.look((reader) =>
    reader
      .current()
      .tasks.filter((one) => LIVE.includes(one.status))
      .map((one) => one.id),
  );
  const said: string[] = [];
  for (const task of live) {
    if (!(await isWorkedOnHere(hands, task))) continue;
    const claim = found.find((one) => one.task === task)?.claim;
    if (claim && !worktrees.isOurs(claim.clone)) said.push(lostClaim(task, claim, hands.time()));
    else
      said.push(
        ...(await alone(hands, task, async () => {
          const warnings = await takeClaim(hands, task, { over: false, lease: "byHand" });
          return [...warnings, ...(await settleClaim(hands, task))];
        })),
      );
  }
  return said;
}

/** Claims of tasks that are done with, which their holders never gave back. */
async function sweep(
  hands: Hands,
  claims: Claims,
  remote: string,
  found: readonly FoundClaim[],
): Promise<string[]> {
  const over = await hands.look((reader) =>
    found.filter(
      ({ task, claim }) =>
        claim &&
        isExpired(claim, hands.time()) &&
        reader.hasTask(task) &&
        ENDED.includes(reader.task(task).value.status),
    ),
  );
  for (const { task, commit } of over) {
    await claims.push(remote, { task, old: commit, claim: undefined }, hands.say);
    claims.forget(task);
  }
  return [];
}

/** The command that is starting or ending the task right now takes care of its claim. */
async function alone(hands: Hands, task: string, act: () => Promise<string[]>): Promise<string[]> {
  const release = (await hands.git.worktrees()).hold(task);
  if (!release) return [];
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.message];
  } finally {
    release();
  }
}
