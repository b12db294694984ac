import type { Finding } from "../../judge/audit/judge.ts";
import { branchOfRef } from "../../model/naming.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type { ApprovedMerge, CommitFact, LostCommit } from "../../ports/audit-facts.ts";
import type { Audits, BranchTip, RemoteAnswer } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { type OneBaseline, recordedRefs } from "./one-baseline.ts";
import type { Subject } from "./subject.ts";

/** What is needed to look for commits that a branch once had. */
export interface Kept {
  branch: BranchTip;
  /** Its first-parent commits, newest first: looking here saves a git process per commit. */
  commits: readonly Pick<CommitFact, "id">[];
  /** What its remotes said; empty when the remote's own copy is audited. */
  answers: readonly RemoteAnswer[];
  /** Moves made while a human had unlocked the branch: what they removed was meant to go. */
  moves: readonly { old: string; new: string }[];
}

/** What an approval or unlock brought in; several commits if a merge had to be redone. */
interface Brought {
  by: string;
  commits: readonly string[];
  pushed: boolean;
}

/** Commits that a human let in and that the branch, or the remote that had them, has lost. */
export async function lostCommits(
  audits: Audits,
  subject: Subject,
  kept: Kept,
  given: { approvals: readonly ApprovedMerge[]; unlocks: readonly Unlock[] },
): Promise<LostCommit[]> {
  const { site, manner } = subject;
  const lost: LostCommit[] = [];
  const isOnLine = lineOf(kept);
  const isBelow = stepsOf(given);
  for (const { by, commits, pushed } of broughtBy(given)) {
    const [commit = ""] = commits;
    const has = async (tip: string) => {
      if (commits.some((one) => isOnLine(tip, one))) return true;
      for (const one of commits)
        if (isOnLine(tip, one) ?? (await audits.contains(site, tip, one))) return true;
      return false;
    };
    if (manner.view !== "here") {
      if (
        pushed &&
        !(await has(kept.branch.tip)) &&
        !(await wasTakenAway(audits, site, kept, commit, isBelow))
      )
        lost.push({ commit, by, from: undefined });
    } else if (await isGoneHere(audits, site, kept, commit, has)) lost.push({ commit, by, from: undefined });
    else
      for (const from of await goneFromRemotes(audits, site, kept, commit, has))
        lost.push({ commit, by, from });
  }
  return lost;
}

/**
 * Whether `tip` contains `commit`, judged from the branch's own line; undefined where git has to be asked.
 */
function lineOf({ commits }: Kept): (tip: string, commit: string) => boolean | undefined {
  const places = new Map(commits.map(({ id }, place) => [id, place]));
  return (tip, commit) => {
    const [above, below] = [places.get(tip), places.get(commit)];
    return above === undefined || below === undefined ? undefined : above <= below;
  };
}

/** Whether approvals lead from `tip` down to `commit`: a clone made for a check lacks what was taken out. */
function stepsOf({ approvals }: Parameters<typeof lostCommits>[3]) {
  const steps = new Map<string, string>();
  for (const one of approvals)
    if (one.status === "merged" && one.distrust === undefined) steps.set(one.new, one.onto ?? one.old);
  return (tip: string, commit: string): boolean => {
    const seen = new Set<string>();
    let at: string | undefined = tip;
    while (at !== undefined && at !== commit && !seen.has(at)) {
      seen.add(at);
      at = steps.get(at);
    }
    return at === commit;
  };
}

function broughtBy({ approvals, unlocks }: Parameters<typeof lostCommits>[3]): Brought[] {
  const merged = approvals.filter((one) => one.status === "merged" && one.distrust === undefined);
  const again = new Map<string, ApprovedMerge[]>();
  for (const one of merged) again.set(one.head, [...(again.get(one.head) ?? []), one]);
  // Anybody can write a record of a merge made again, so that it takes a signed one to stand for a signed one.
  const standsFor = (other: ApprovedMerge, one: ApprovedMerge) =>
    other.signed !== undefined || one.signed === undefined;
  const brought: Brought[] = [
    ...merged.map((one) => ({
      by: one.id,
      commits: [
        one.new,
        ...(again.get(one.head) ?? []).filter((other) => standsFor(other, one)).map((other) => other.new),
      ],
      pushed: one.pushed,
    })),
    ...unlocks.flatMap(({ id, status, moves, pushed = false }): Brought[] => {
      const last = status === "closed" ? moves.at(-1) : undefined;
      return last ? [{ by: id, commits: [last.new], pushed }] : [];
    }),
  ];
  // A record and an earlier version of it say the same.
  return [...new Map(brought.map((one) => [`${one.by} ${one.commits[0]} ${one.pushed}`, one])).values()];
}

/** Not gone if a remote has it (this clone is only behind), or if it never was in this clone. */
async function isGoneHere(
  audits: Audits,
  site: Site,
  kept: Kept,
  commit: string,
  has: (tip: string) => Promise<boolean>,
): Promise<boolean> {
  const { branch, answers } = kept;
  if ((await has(branch.tip)) || (await audits.resolve(site, commit)) === undefined) return false;
  for (const { upTo } of answers) if (upTo !== undefined && (await has(upTo))) return false;
  return !(await wasTakenAway(audits, site, kept, commit));
}

/**
 * Whether a human removed it on purpose. A clone made for a check may lack the commit, so ids are compared
 * first.
 */
async function wasTakenAway(
  audits: Audits,
  site: Site,
  { moves }: Kept,
  commit: string,
  isBelow = (_tip: string, _commit: string) => false,
): Promise<boolean> {
  const has = async (tip: string) =>
    tip === commit || isBelow(tip, commit) || (await audits.contains(site, tip, commit));
  for (const move of moves) if ((await has(move.old)) && !(await has(move.new))) return true;
  return false;
}

/** The log of a remote-tracking ref shows what the remote had before somebody overwrote it. */
async function goneFromRemotes(
  audits: Audits,
  site: Site,
  { branch, answers }: Kept,
  commit: string,
  has: (tip: string) => Promise<boolean>,
): Promise<string[]> {
  const gone: string[] = [];
  for (const { upTo, tracking } of answers) {
    if (upTo === undefined || (await has(upTo)) || !(await has(branch.tip))) continue;
    for (const { new: tip } of audits.log(site, tracking) ?? [])
      if (await audits.contains(site, tip, commit)) {
        gone.push(tracking);
        break;
      }
  }
  return gone;
}

/** A baseline that the branch no longer contains; not reported where this clone is only behind its remote. */
export async function lostBaseline(
  audits: Audits,
  { site, manner }: Subject,
  kept: Kept,
  { commits, born }: OneBaseline,
): Promise<Finding[]> {
  if (born) return [];
  const { branch } = kept;
  const lost: string[] = [];
  for (const commit of commits) {
    const has = (tip: string) => audits.contains(site, tip, commit);
    const isGone =
      manner.view === "here"
        ? await isGoneHere(audits, site, kept, commit, has)
        : (await audits.resolve(site, commit)) !== undefined && !(await has(branch.tip));
    if (isGone) lost.push(commit);
  }
  return lost.map((commit) => ({
    code: "baseline_missing",
    repo: site.name,
    where: branchOfRef(branch.ref),
    message: `The branch no longer contains its baseline ${commit.slice(0, 12)}.`,
  }));
}

/**
 * Protected branches that no longer exist: with a recorded baseline, guarded in this clone or known to be
 * published; or made later, with decisions that were published.
 */
export function deletedBranches(
  subject: Subject,
  branches: readonly BranchTip[],
  isProtected: (ref: string) => boolean,
): Finding[] {
  const { site, ledger, names, manner } = subject;
  const there = new Set(branches.map((one) => one.ref));
  const mine = ledger.repositories.filter((one) => names.has(one.id));
  const guardedHere = new Set(
    mine
      .flatMap((one) => [...one.baseline, ...one.begun])
      .flatMap((one) => (manner.clones.has(one.clone ?? "") ? one.ref : [])),
  );
  const { approvals, unlocks, formerly } = ledger;
  const published = new Set([
    ...[...approvals, ...formerly.approvals]
      .flatMap((one) => one.repos)
      .flatMap((one) => (names.has(one.name) && one.pushed ? one.ref : [])),
    ...[...unlocks, ...formerly.unlocks]
      .filter((one) => names.has(one.repo ?? "") && one.status === "closed" && one.pushed)
      .map((one) => one.ref),
  ]);
  const recorded = recordedRefs(subject);
  const isWanted = (ref: string) => {
    if (manner.view === "here") return guardedHere.has(ref);
    return recorded.has(ref) ? published.has(ref) || recorded.size === 1 : isProtected(ref);
  };
  return [...new Set([...recorded, ...published])]
    .filter((ref) => !there.has(ref) && isWanted(ref))
    .map((ref) => ({
      code: "branch_deleted",
      repo: site.name,
      where: branchOfRef(ref),
      message: "This protected branch is gone. Restore it from the remote, or from a clone that has it.",
    }));
}
