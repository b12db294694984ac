import { type Explained, explainer } from "../../judge/audit/classify.ts";
import type { Finding } from "../../judge/audit/judge.ts";
import { mustSign, strictest } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { branchOfRef, isNothing } from "../../model/naming.ts";
import type { ApprovedMerge, Known } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { askedRemotes, fromRemotes, unlocksOf } from "./audit-branch.ts";
import { protectedRefs } from "./audit-repository.ts";
import { beginningOf } from "./beginning.ts";
import { type KeysLine, keysLine } from "./keys-line.ts";
import { type Neighbours, neighboursOf } from "./neighbours.ts";
import { olderKeys } from "./older-keys.ts";
import { baselineFor, type OneBaseline } from "./one-baseline.ts";
import { removedButListed } from "./removed-keys.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import type { Chain, Subject } from "./subject.ts";

/** One line of what git passes to pre-push. */
export interface PushedRef {
  localId: string;
  remoteRef: string;
  /** What the remote has now, as it reported itself. */
  remoteId: string;
}

/** Why a push to a protected branch is refused. */
export interface RefusedPush {
  ref: string;
  /** The push would delete the branch, or remove commits from it. */
  loses: "branch" | "commits" | undefined;
  /** Commits that nothing explains, newest first. */
  commits: Explained[];
  /** What else would be wrong with the branch after the push. */
  wrong: Finding | undefined;
  /** The task whose approved merge is pushed, although the remote has moved on without it. */
  overtaken?: string;
  /** The same, but the remote's tip was not fetched: it may already contain the merge. */
  perhapsOvertaken?: string;
}

/** Classifies what a push brings to protected branches, as an audit would. */
export async function auditPush(
  hands: Hands,
  subject: Subject,
  pushed: readonly PushedRef[],
): Promise<RefusedPush[]> {
  const audits = await hands.git.audits();
  const { site } = subject;
  await audits.checkWhole(site);
  const branching = await audits.branching(site, "own");
  const guarded = await protectedRefs(hands, subject, branching);
  const { now } = await hands.situation("read");
  const neighbours = await neighboursOf(audits, subject, branching);
  const refused: RefusedPush[] = [];
  for (const one of pushed.filter((each) => guarded(each.remoteRef))) {
    if (isOpen(subject, one.remoteRef, now) && !(await isSigned(audits, subject, one, neighbours))) continue;
    const found = await judgePush(audits, subject, one, neighbours);
    if (found.loses !== undefined || found.commits.length > 0 || found.wrong) refused.push(found);
  }
  return refused;
}

/** Whether a human has unlocked the branch in this clone and the time is not up. */
function isOpen({ names, ledger, manner }: Subject, ref: string, now: string): boolean {
  return ledger.unlocks.some(
    (one) =>
      one.status === "open" &&
      one.ref === ref &&
      names.has(one.repo ?? "") &&
      manner.clones.has(one.clone) &&
      one.until > now,
  );
}

/** Where decisions have to be signed, an unlock explains nothing until it is closed and signed. */
async function isSigned(
  audits: Audits,
  subject: Subject,
  { remoteRef, remoteId, localId }: PushedRef,
  { older }: Neighbours,
) {
  const from = isNothing(remoteId) ? localId : remoteId;
  if (isNothing(from)) return false;
  const own = await subject.readKeys(await keyTextsAt(audits, subject.site, from));
  return mustSign(strictest(own, await olderKeys(audits, subject, remoteRef, older)));
}

async function judgePush(
  audits: Audits,
  around: Subject,
  { localId, remoteRef: ref, remoteId }: PushedRef,
  neighbours: Neighbours,
): Promise<RefusedPush> {
  const { site } = around;
  if (isNothing(localId)) return { ref, loses: "branch", commits: [], wrong: undefined };
  // Git itself leaves a push that is not a fast-forward out, unless it was forced.
  const forward = isNothing(remoteId) || (await audits.contains(site, localId, remoteId));
  const { baseline, subject } = await beginningOf(audits, around, { ref, tip: localId }, neighbours);
  const { left, approvals } = await lookAt(audits, subject, ref, { localId, remoteId, baseline });
  const { from, at } = isNothing(remoteId) ? (baseline.born ?? {}) : {};
  // The commit that a new branch starts from is only as good as the records of the branch it was made from.
  if (from !== undefined && at !== undefined) {
    const baseline = await baselineFor(audits, around, from, at);
    const below = { localId: at, remoteId, baseline };
    left.push(...(await lookAt(audits, around, from, below)).left);
  }
  const [wrong] = await removedButListed(audits, around, { ref, tip: localId }, neighbours.older);
  const isSeen = forward || (await audits.resolve(site, remoteId)) !== undefined;
  const hasIt = forward || (isSeen && (await audits.contains(site, remoteId, localId)));
  const approved = hasIt ? undefined : approvals.find((one) => one.new === localId);
  const merge = approved && taskOf(approved.id);
  return {
    ref,
    loses: forward ? undefined : "commits",
    commits: left,
    wrong,
    ...(merge === undefined ? {} : isSeen ? { overtaken: merge } : { perhapsOvertaken: merge }),
  };
}

interface Pushed {
  localId: string;
  remoteId: string;
  baseline: OneBaseline;
}

/** The pushed commits that the branch's records do not explain. */
async function lookAt(
  audits: Audits,
  subject: Subject,
  ref: string,
  { localId: tip, remoteId, baseline }: Pushed,
): Promise<{ left: Explained[]; approvals: readonly ApprovedMerge[] }> {
  const { site } = subject;
  const { refs, begin } = await knownBeginning(audits, subject, ref, tip, baseline);
  const before = baseline.born && !isNothing(remoteId) ? [] : begin;
  const without = [...before, remoteId].filter((id) => !isNothing(id));
  const chain = { tip, without, commits: await audits.history(site, { tip, without }) };
  const line = await keysLine(audits, subject, chain);
  const known = await whatExplains(audits, subject, refs, before, line);
  let left = unexplained(chain, known);
  // Another remote may have them. Only its own answer counts, because anybody can write a remote-tracking
  // ref.
  if (left.length > 0) {
    const remote = await confirmed(audits, subject, ref, chain);
    for (const { commit } of left) if (await line.needsSignature(commit)) remote.delete(commit.id);
    left = unexplained(chain, { ...known, remote });
  }
  return { left, approvals: known.approvals };
}

const unexplained = ({ commits }: Chain, known: Known) =>
  commits.map(explainer(known)).filter((one) => one.class === "unexplained");

/** Where no baseline is recorded, branches that the guard saw being created supply one. */
async function knownBeginning(
  audits: Audits,
  subject: Subject,
  ref: string,
  tip: string,
  baseline: OneBaseline,
): Promise<{ refs: string[]; begin: string[] }> {
  if (baseline.born || baseline.commits.length > 0) return { refs: [ref], begin: baseline.commits };
  const created = audits.passed(subject.site).filter((one) => one.why === "created");
  const begin: string[] = [];
  for (const one of created) begin.push(...(await baselineFor(audits, subject, one.ref, tip)).commits);
  if (begin.length === 0) throw noBaseline(ref);
  return { refs: created.map((one) => one.ref), begin };
}

async function whatExplains(
  audits: Audits,
  subject: Subject,
  refs: readonly string[],
  baseline: readonly string[],
  line: KeysLine,
): Promise<Known> {
  const unlocks = refs.flatMap((ref) => unlocksOf(audits, subject, ref));
  const { unlocked, rejected } = await unlockedCommits(audits, subject, line, unlocks, baseline);
  const approvals = [];
  for (const ref of refs) approvals.push(...(await signedMerges(audits, subject, line, ref)));
  return {
    baseline: new Set(baseline),
    approvals,
    unlocked,
    rejected,
    remote: new Map(),
    unapproved: new Map(),
  };
}

async function confirmed(audits: Audits, subject: Subject, ref: string, chain: Chain) {
  const { site } = subject;
  return fromRemotes(
    audits,
    site,
    chain,
    await audits.remotes(site, ref, askedRemotes(subject, chain.without)),
  );
}

function noBaseline(ref: string): Failure {
  const branch = branchOfRef(ref);
  return new Failure(
    "refused",
    "no_baseline",
    `Nothing says what ${branch} contained before it was guarded.`,
    {
      hint: "Record it, then push again: pawl doctor --fix",
      details: { ref },
    },
  );
}
