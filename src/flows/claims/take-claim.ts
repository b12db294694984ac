import { judgeClaim } from "../../judge/claims.ts";
import { isHuman } from "../../model/actor.ts";
import { type Claim, LEASE } from "../../model/claim.ts";
import { Failure } from "../../model/failure.ts";
import type { Claims, FoundClaim } from "../../ports/claims.ts";
import type { Hands } from "../../ports/hands.ts";
import { claimingRemote } from "./claiming-remote.ts";

export interface ClaimWish {
  /** `--claim`: even if somebody else holds it now. */
  over: boolean;
  lease: keyof typeof LEASE;
  /** It was worked on elsewhere, so the remote must be asked before work starts here. */
  must?: boolean;
}

interface Negotiation {
  claims: Claims;
  remote: string;
  task: string;
  wish: ClaimWish;
}

/** More often than those who take the same task at the same moment get in each other's way. */
const TRIES = 5;

/**
 * Tells everybody who shares the remote that this clone takes the task; refused where another one has. Called with the
 * task held, before anything is made for it; `settleClaim` follows when that is done. Answers with what to tell.
 */
export async function takeClaim(hands: Hands, task: string, wish: ClaimWish): Promise<string[]> {
  const { claims, remote, warnings } = await claimingRemote(hands);
  if (remote === undefined) return warnings;
  const own = claims.remembered().find((one) => one.claim.task === task && one.ours && one.remote === remote);
  if (own?.commit !== undefined && own.claim.until > hands.time(LEASE[wish.lease] / 2)) return [];
  claims.mark(task);
  const at = { claims, remote, task, wish };
  try {
    return await negotiate(hands, at);
  } catch (error) {
    if (!isUntold(error) || wish.must) throw error;
    const claim = await newClaim(hands, at, own?.claim ?? { since: undefined, from: undefined });
    claims.remember({ remote, commit: undefined, claim, ours: true });
    return [
      `Nobody else knows yet that ${task} is taken here: ${error.message} You can work; \`pawl sync\` tells them.`,
    ];
  }
}

/** The remote is out of reach, or takes no claims: no reason not to work. */
export const isUntold = (error: unknown): error is Failure =>
  error instanceof Failure && ["remote_unreachable", "claim_refused"].includes(error.code);

async function negotiate(hands: Hands, at: Negotiation): Promise<string[]> {
  const { claims, remote, task } = at;
  const known = claims.remembered().find((one) => one.claim.task === task && one.remote === remote);
  // Usually nobody or this clone has it, and one push is enough; only another holder needs a look first.
  let found: FoundClaim | undefined =
    known?.commit === undefined ? undefined : { task, commit: known.commit, claim: known.claim };
  if (known && !known.ours) found = await ask(hands, at);
  for (let tries = 0; tries < TRIES; tries++) {
    const decision = await decide(hands, at, found);
    if (decision.do === "refuse") throw decision.failure;
    const claim = await newClaim(hands, at, decision);
    const pushed = await claims.push(remote, { task, old: decision.old, claim }, hands.say);
    if (pushed.ok) {
      claims.remember({ remote, commit: pushed.commit, claim, ours: true });
      const isTaken = decision.from !== undefined && decision.since === undefined;
      return isTaken ? [`${task} was taken over from ${decision.from}.`] : [];
    }
    found = await ask(hands, at);
  }
  throw new Failure("conflict", "claim_busy", `Others kept changing the claim on ${task}.`, {
    hint: "Nothing was started. Run the command again.",
    details: { task },
  });
}

/** What the remote says now; it is remembered, so that lists can tell it. */
async function ask(hands: Hands, { claims, remote, task }: Negotiation): Promise<FoundClaim | undefined> {
  const found = (await claims.look(remote, hands.say)).find((one) => one.task === task);
  if (found?.claim) {
    const ours = (await hands.git.worktrees()).isOurs(found.claim.clone);
    claims.remember({ remote, commit: found.commit, claim: found.claim, ours });
  } else claims.forget(task);
  return found;
}

async function decide(hands: Hands, { task, wish }: Negotiation, found: FoundClaim | undefined) {
  const worktrees = await hands.git.worktrees();
  const { actor } = await hands.situation("write");
  return judgeClaim({
    task,
    found,
    over: wish.over,
    now: hands.time(),
    created: await hands.look((reader) => reader.task(task).value.created),
    isOurs: found?.claim !== undefined && worktrees.isOurs(found.claim.clone),
    isHuman: isHuman(actor) && hands.agent === undefined,
  });
}

async function newClaim(
  hands: Hands,
  { claims, task, wish }: Negotiation,
  { since, from }: { since: string | undefined; from: string | undefined },
): Promise<Claim> {
  const { actor, clone } = await hands.situation("write");
  return {
    task,
    created: await hands.look((reader) => reader.task(task).value.created),
    holder: actor,
    clone,
    machine: claims.machine,
    since: since ?? hands.time(),
    until: hands.time(LEASE[wish.lease]),
    from,
  };
}
