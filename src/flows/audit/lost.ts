import type { Finding } from "../../judge/audit/judge.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type { ApprovedMerge, CommitFact, LostCommit } from "../../ports/audit-facts.ts";
import type { Audits, BranchTip, RemoteAnswer } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { type OneBaseline, recordedRefs } from "./one-baseline.ts";
import type { Subject } from "./subject.ts";

/** What has to be asked about commits that a branch once had. */
export interface Kept {
  branch: BranchTip;
  /** Its first-parent commits, newest first: what is among them is told without asking git, which takes a process each. */
  commits: readonly Pick<CommitFact, "id">[];
  /** What its remotes said; none where the remote's own copy is looked at. */
  answers: readonly RemoteAnswer[];
  /** Moves that a human made while the branch was open: what these took away was meant to go. */
  moves: readonly { old: string; new: string }[];
}

/** What a human's word brought to a branch: under one of several commits, where a merge had to be made once more. */
interface Brought {
  by: string;
  commits: readonly string[];
  pushed: boolean;
}

/** Commits that a human let in, and that the branch, or the remote that had them, does not have any more. */
export async function lostCommits(
  audits: Audits,
  subject: Subject,
  kept: Kept,
  given: { approvals: readonly ApprovedMerge[]; unlocks: readonly Unlock[] },
): Promise<LostCommit[]> {
  const { site, manner } = subject;
  const lost: LostCommit[] = [];
  const isOnLine = lineOf(kept);
  for (const { by, commits, pushed } of broughtBy(given)) {
    const [commit = ""] = commits;
    const has = async (tip: string) => {
      if (commits.some((one) => isOnLine(tip, one))) return true;
      for (const one of commits)
        if (isOnLine(tip, one) ?? (await audits.contains(site, tip, one))) return true;
      return false;
    };
    if (manner.view !== "here") {
      if (pushed && !(await has(kept.branch.tip)) && !(await wasTakenAway(audits, site, kept, commit)))
        lost.push({ commit, by, from: undefined });
    } else if (await isGoneHere(audits, site, kept, commit, has)) lost.push({ commit, by, from: undefined });
    else
      for (const from of await goneFromRemotes(audits, site, kept, commit, has))
        lost.push({ commit, by, from });
  }
  return lost;
}

/** Whether a commit is part of another, as far as both are on the branch's own line; undefined where git has to be asked. */
function lineOf({ commits }: Kept): (tip: string, commit: string) => boolean | undefined {
  const places = new Map(commits.map(({ id }, place) => [id, place]));
  return (tip, commit) => {
    const [above, below] = [places.get(tip), places.get(commit)];
    return above === undefined || below === undefined ? undefined : above <= below;
  };
}

function broughtBy({ approvals, unlocks }: Parameters<typeof lostCommits>[3]): Brought[] {
  const merged = approvals.filter((one) => one.status === "merged" && one.distrust === undefined);
  const again = new Map<string, string[]>();
  for (const { head, new: commit } of merged) again.set(head, [...(again.get(head) ?? []), commit]);
  return [
    ...merged.map((one) => ({
      by: one.id,
      commits: [one.new, ...(again.get(one.head) ?? [])],
      pushed: one.pushed,
    })),
    ...unlocks.flatMap(({ id, status, moves, pushed = false }): Brought[] => {
      const last = status === "closed" ? moves.at(-1) : undefined;
      return last ? [{ by: id, commits: [last.new], pushed }] : [];
    }),
  ];
}

/** Where a remote has it, this clone is only behind; what was never here was never lost. */
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

/** A human took it away again; a clone for a check may not have it any more, and goes by its name alone. */
async function wasTakenAway(audits: Audits, site: Site, { moves }: Kept, commit: string): Promise<boolean> {
  const has = async (tip: string) => tip === commit || (await audits.contains(site, tip, commit));
  for (const move of moves) if ((await has(move.old)) && !(await has(move.new))) return true;
  return false;
}

/** The log of a remote-tracking ref says what the remote had before it was overwritten. */
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

/** A baseline that is nowhere any more; of a clone that is only behind, the remote has it. */
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
    where: branch.ref.replace(/^refs\/heads\//, ""),
    message: `The branch no longer contains its baseline ${commit.slice(0, 12)}.`,
  }));
}

/** Branches that were there when the guard came, or that got an approved merge, and that are gone. */
export function deletedBranches(subject: Subject, branches: readonly BranchTip[]): Finding[] {
  const { site, ledger, names, manner } = subject;
  const there = new Set(branches.map((one) => one.ref));
  const mine = ledger.repositories.filter((one) => names.has(one.id));
  const guardedHere = new Set(
    mine
      .flatMap((one) => [...one.baseline, ...one.begun])
      .flatMap((one) => (manner.clones.has(one.clone ?? "") ? one.ref : [])),
  );
  const published = new Set(
    ledger.approvals
      .flatMap((one) => one.repos)
      .flatMap((one) => (names.has(one.name) && one.pushed ? one.ref : [])),
  );
  const recorded = recordedRefs(subject);
  const isWanted = (ref: string) =>
    manner.view === "here" ? guardedHere.has(ref) : published.has(ref) || recorded.size === 1;
  return [...recorded]
    .filter((ref) => !there.has(ref) && isWanted(ref))
    .map((ref) => ({
      code: "branch_deleted",
      repo: site.name,
      where: ref.replace(/^refs\/heads\//, ""),
      message: "This protected branch is gone. Restore it from the remote, or from a clone that has it.",
    }));
}
