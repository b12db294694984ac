import type { Claim } from "../model/claim.ts";
import { Failure } from "../model/failure.ts";
import { shorten } from "../model/ids.ts";
import { run } from "../model/records/run.ts";
import type { FoundClaim } from "../ports/claims.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { hasWorktrees } from "./current-run.ts";

export interface ClaimFacts {
  task: string;
  /** When our task with this id was created. */
  created: string;
  /** What the remote has. */
  found: FoundClaim | undefined;
  isOurs: boolean;
  /** `--claim`: the caller knows that somebody else may hold it. */
  over: boolean;
  isHuman: boolean;
  now: string;
}

export type ClaimDecision =
  | { do: "push"; old: string | undefined; since: string | undefined; from: string | undefined }
  | { do: "refuse"; failure: Failure };

/**
 * Whether a task with a claim on the remote may be taken. The remote decides who is first; this decides who
 * may try.
 */
export function judgeClaim(facts: ClaimFacts): ClaimDecision {
  const { found, isOurs, over, isHuman, now, created } = facts;
  if (!found) return { do: "push", old: undefined, since: undefined, from: undefined };
  const { claim, commit } = found;
  if (claim && claim.created !== created) return { do: "refuse", failure: otherTask(facts.task, claim) };
  if (claim && isOurs) return { do: "push", old: commit, since: claim.since, from: claim.from };
  const mayTake = over && (isHuman || (claim !== undefined && isExpired(claim, now)));
  if (!mayTake) return { do: "refuse", failure: claimed(facts, claim) };
  return { do: "push", old: commit, since: undefined, from: claim ? holderOf(claim) : "an unknown holder" };
}

export const isExpired = ({ until }: Pick<Claim, "until">, now: string) => until <= now;

/** Who holds it, and where. Others wrote these names, so they are shortened. */
export const holderOf = ({ holder, machine, clone }: Claim) =>
  `${shorten(holder, 80)} on ${shorten(machine, 60)} (clone ${shorten(clone, 20)})`;

const minute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

/** One line on a claim, for whoever looks at the task. */
function claimWords(claim: Claim, now: string): string {
  const until = isExpired(claim, now) ? "expired" : "until";
  const from = claim.from === undefined ? "" : `, taken over from ${shorten(claim.from, 120)}`;
  return `${holderOf(claim)} since ${minute(claim.since)}, ${until} ${minute(claim.until)}${from}`;
}

function claimed({ task, isHuman, now }: ClaimFacts, claim: Claim | undefined): Failure {
  const takeOver = `pawl start ${task} --claim`;
  const isOver = claim !== undefined && isExpired(claim, now);
  return new Failure(
    "conflict",
    "task_claimed",
    claim
      ? `${task} is claimed by ${claimWords(claim, now)}.`
      : `${task} is claimed, but the claim cannot be read.`,
    {
      hint: isOver
        ? `It has expired. To take it over: ${takeOver}`
        : isHuman
          ? `Talk to them, or take another task. To take it over anyway: ${takeOver}`
          : "Take another task, or ask the person you work for.",
      details: { task, claim },
    },
  );
}

function otherTask(task: string, claim: Claim): Failure {
  return new Failure(
    "conflict",
    "id_taken_twice",
    `${holderOf(claim)} has claimed ${task}, but their ${task} is not the same task as yours.`,
    { hint: "Run pawl sync, which gives yours a new id, and start that one.", details: { task, claim } },
  );
}

/** A warning for somebody who works on a task that others have claimed meanwhile. */
export const lostClaim = (task: string, claim: Claim, now: string) =>
  `${task} is being worked on here, but is claimed by ${claimWords(claim, now)}. Talk to them before you continue.`;

/** A claim as lists and JSON show it. */
export interface ShownClaim extends Claim {
  expired: boolean;
  /** When the remote last said so. */
  seen: string;
}

/** Claims of others; what is worked on here already shows as a run. */
export const claimedElsewhere = (reader: Reader, at: Pick<Situation, "now">): ShownClaim[] =>
  reader
    .claims()
    .filter((one) => !one.ours)
    .map(({ claim, seen }) => ({ ...claim, expired: isExpired(claim, at.now), seen }));

/** Tasks that are worked on in this clone although others have claimed them meanwhile. */
export function lostClaims(reader: Reader, at: Pick<Situation, "now" | "clone">): string[] {
  return claimedElsewhere(reader, at).flatMap((claim) => {
    const { records } = reader.parts(run, claim.task);
    const place = records.findLast((one) => hasWorktrees(one.value))?.value;
    const isHere = place !== undefined && place.ended === undefined && place.clone === at.clone;
    return isHere ? [lostClaim(claim.task, claim, at.now)] : [];
  });
}

/** Who holds a task, and where; undefined if nobody has claimed it. */
export function claimOf(reader: Reader, task: string, now: string): string | undefined {
  const found = reader.claims().find((one) => one.claim.task === task);
  if (!found) return undefined;
  const { claim, ours, commit, remote } = found;
  if (!ours) return claimWords(claim, now);
  return commit === undefined
    ? `here; not yet published to ${remote} (pawl sync)`
    : `here, until ${minute(claim.until)}${claim.from === undefined ? "" : `, taken over from ${shorten(claim.from, 120)}`}`;
}
