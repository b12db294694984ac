import { findRun } from "../../judge/current-run.ts";
import { Failure } from "../../model/failure.ts";
import type { Claims } from "../../ports/claims.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import { openRunsOf } from "../run/run-records.ts";
import { claimingRemote } from "./claiming-remote.ts";

/**
 * Carries out something after which a task may be begun or ended here, and makes its claim agree with the records then,
 * however it went. Called with the task held.
 */
export async function mindingClaim<T>(
  hands: Hands,
  task: string,
  act: () => Promise<Plan<T>>,
): Promise<Plan<T>> {
  const claims = await hands.git.claims();
  if (claims.remembered().some((one) => one.claim.task === task && one.ours)) claims.mark(task);
  try {
    const plan = await act();
    return { ...plan, warnings: [...(plan.warnings ?? []), ...(await settleClaim(hands, task))] };
  } catch (error) {
    for (const said of await settleClaim(hands, task)) hands.say(said);
    throw error;
  }
}

/** A claim stays as long as the task is worked on here, and is given back otherwise. What cannot be done now is reported. */
export async function settleClaim(hands: Hands, task: string): Promise<string[]> {
  const claims = await hands.git.claims();
  if (!claims.marked().includes(task)) return [];
  const said = (await isWorkedOnHere(hands, task)) ? [] : await giveBack(hands, claims, task);
  claims.unmark(task);
  return said;
}

/** What killed commands have left of their claims. */
export async function settleClaims(hands: Hands): Promise<string[]> {
  const claims = await hands.git.claims();
  const said: string[] = [];
  for (const task of claims.marked()) {
    const release = (await hands.git.worktrees()).hold(task);
    // Another command is starting or ending it right now.
    if (!release) continue;
    try {
      said.push(...(await settleClaim(hands, task)));
    } finally {
      release();
    }
  }
  return said;
}

/** Whether its worktrees are here, or an agent is about to make them. Where that cannot be read, it may be so. */
export async function isWorkedOnHere(hands: Hands, task: string): Promise<boolean> {
  const worktrees = await hands.git.worktrees();
  try {
    const open = await hands.look((reader) => {
      const place = findRun(reader, task)?.value;
      return [...(place && place.ended === undefined ? [place] : []), ...openRunsOf(reader, task)];
    });
    return open.some((one) => worktrees.isOurs(one.clone));
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}

/** Nothing is claimed from here any more, and nothing of it stays in this clone. */
export async function giveBackAll(hands: Hands): Promise<string[]> {
  const claims = await hands.git.claims();
  const said: string[] = [];
  for (const { claim, ours } of claims.remembered())
    if (ours) said.push(...(await giveBack(hands, claims, claim.task)));
  claims.forgetAll();
  return said;
}

async function giveBack(hands: Hands, claims: Claims, task: string): Promise<string[]> {
  const known = claims.remembered().find((one) => one.claim.task === task);
  const { remote } = await claimingRemote(hands);
  if (remote === undefined) {
    claims.forget(task);
    return [];
  }
  const drop = (old: string) => claims.push(remote, { task, old, claim: undefined }, hands.say);
  try {
    const isGone = known?.ours && known.commit !== undefined && (await drop(known.commit)).ok;
    // It may have been renewed or taken over since, or pushed by somebody who was killed before remembering it.
    const found = isGone
      ? undefined
      : (await claims.look(remote, hands.say)).find((one) => one.task === task);
    const isOurs = found?.claim && (await hands.git.worktrees()).isOurs(found.claim.clone);
    if (found && isOurs) await drop(found.commit);
    claims.forget(task);
    if (found?.claim && !isOurs)
      claims.remember({ remote, commit: found.commit, claim: found.claim, ours: false });
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    claims.forget(task);
    return [
      `${remote} does not know yet that ${task} is free again: ${error.message} Run \`pawl sync\`; otherwise the claim expires by itself.`,
    ];
  }
}
