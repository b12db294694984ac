import { type Explained, explainer } from "../../judge/audit/classify.ts";
import type { Finding } from "../../judge/audit/judge.ts";
import { mustSign } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import type { ApprovedMerge, Known } from "../../ports/audit-facts.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { askedRemotes, fromRemotes, unlocksOf } from "./audit-branch.ts";
import { protectedRefs } from "./audit-repository.ts";
import { beginningOf } from "./beginning.ts";
import { type KeysLine, keysLine } from "./keys-line.ts";
import { baselineFor, type OneBaseline } from "./one-baseline.ts";
import { removedButListed } from "./removed-keys.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import type { Chain, Subject } from "./subject.ts";

/** One line of what git tells before a push. */
export interface PushedRef {
  localId: string;
  remoteRef: string;
  /** What the remote has now, by its own word. */
  remoteId: string;
}

/** Why a push to a protected branch may not be. */
export interface RefusedPush {
  ref: string;
  /** It would delete the branch, or take commits away from it. */
  loses: "branch" | "commits" | undefined;
  /** What nothing explains, the newest first. */
  commits: Explained[];
  /** What else is wrong with the branch as it would be. */
  wrong: Finding | undefined;
  /** The task whose approved merge it is, while the remote went on without it. */
  overtaken?: string;
}

const isNothing = (id: string) => /^0*$/.test(id);

/** Puts what a push brings to protected names into the classes of an audit. */
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
  const refused: RefusedPush[] = [];
  for (const one of pushed.filter((each) => guarded(each.remoteRef))) {
    if (isOpen(subject, one.remoteRef, now) && !(await isSigned(audits, subject, one))) continue;
    const found = await judgePush(audits, subject, one, branching.branches);
    if (found.loses !== undefined || found.commits.length > 0 || found.wrong) refused.push(found);
  }
  return refused;
}

/** A human has opened the branch in this clone, and the time is not over. */
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

/** Where decisions are signed, an unlock explains nothing before it was closed. */
async function isSigned(audits: Audits, { site, readKeys }: Subject, { remoteId, localId }: PushedRef) {
  const from = isNothing(remoteId) ? localId : remoteId;
  return !isNothing(from) && mustSign(await readKeys(await keyTextsAt(audits, site, from)));
}

async function judgePush(
  audits: Audits,
  around: Subject,
  { localId, remoteRef: ref, remoteId }: PushedRef,
  branches: readonly BranchTip[],
): Promise<RefusedPush> {
  const { site } = around;
  if (isNothing(localId)) return { ref, loses: "branch", commits: [], wrong: undefined };
  // Git leaves out of a push what would go backwards, unless it was told to do it anyway.
  const forward = isNothing(remoteId) || (await audits.contains(site, localId, remoteId));
  const { baseline, subject } = await beginningOf(audits, around, { ref, tip: localId }, branches);
  const { left, approvals } = await lookAt(audits, subject, ref, { localId, remoteId, baseline });
  const { from, at } = isNothing(remoteId) ? (baseline.born ?? {}) : {};
  // What a new branch begins with is only as good as what says so for the branch that it was made from.
  if (from !== undefined && at !== undefined) {
    const older = await baselineFor(audits, around, from, at);
    const below = { localId: at, remoteId, baseline: older };
    left.push(...(await lookAt(audits, around, from, below)).left);
  }
  const [wrong] = await removedButListed(audits, around, { ref, tip: localId }, branches);
  const merge = forward ? undefined : approvals.find((one) => one.new === localId);
  return {
    ref,
    loses: forward ? undefined : "commits",
    commits: left,
    wrong,
    ...(merge ? { overtaken: merge.id.replace(/\/.*$/, "") } : {}),
  };
}

interface Pushed {
  localId: string;
  remoteId: string;
  baseline: OneBaseline;
}

/** What the records of a branch do not explain of what it gets. */
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
  // Another remote may have it; only its own word counts, because anybody can write a remote-tracking ref.
  if (left.length > 0) {
    const remote = await confirmed(audits, subject, ref, chain);
    for (const { commit } of left) if (await line.needsSignature(commit)) remote.delete(commit.id);
    left = unexplained(chain, { ...known, remote });
  }
  return { left, approvals: known.approvals };
}

const unexplained = ({ commits }: Chain, known: Known) =>
  commits.map(explainer(known)).filter((one) => one.class === "unexplained");

/** Where nothing was recorded yet, a branch that the guard saw begin says what was there before. */
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
  const branch = ref.replace(/^refs\/heads\//, "");
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
