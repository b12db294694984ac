import { type Explained, explainer } from "../../judge/audit/classify.ts";
import { mustSign } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import type { Known } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { askedRemotes, fromRemotes, unlocksOf } from "./audit-branch.ts";
import { protectedRefs } from "./audit-repository.ts";
import { type KeysLine, keysLine } from "./keys-line.ts";
import { baselineFor, recordedRefs } from "./one-baseline.ts";
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
  const guarded = await protectedRefs(hands, subject, await audits.branching(site, "own"));
  const { now } = await hands.situation("read");
  const refused: RefusedPush[] = [];
  for (const one of pushed.filter((each) => guarded(each.remoteRef))) {
    if (isOpen(subject, one.remoteRef, now) && !(await isSigned(audits, subject, one))) continue;
    const found = await judgePush(audits, subject, one);
    if (found.loses !== undefined || found.commits.length > 0) refused.push(found);
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
  subject: Subject,
  { localId, remoteRef: ref, remoteId }: PushedRef,
): Promise<RefusedPush> {
  const { site } = subject;
  if (isNothing(localId)) return { ref, loses: "branch", commits: [] };
  // Git leaves out of a push what would go backwards, unless it was told to do it anyway.
  const forward = isNothing(remoteId) || (await audits.contains(site, localId, remoteId));
  const refs = await knownRefs(audits, subject, ref, localId);
  const baseline: string[] = [];
  for (const one of refs) baseline.push(...(await baselineFor(audits, subject, one, localId)).commits);
  if (baseline.length === 0) throw noBaseline(ref);
  const without = [...baseline, remoteId].filter((id) => !isNothing(id));
  const chain = { tip: localId, without, commits: await audits.history(site, { tip: localId, without }) };
  const line = await keysLine(audits, subject, chain);
  const known = await whatExplains(audits, subject, refs, baseline, line);
  let left = unexplained(chain, known);
  // Another remote may have it; only its own word counts, because anybody can write a remote-tracking ref.
  if (left.length > 0) {
    const remote = await confirmed(audits, subject, ref, chain);
    for (const { commit } of left) if (await line.needsSignature(commit)) remote.delete(commit.id);
    left = unexplained(chain, { ...known, remote });
  }
  const merge = forward ? undefined : known.approvals.find((one) => one.new === localId);
  return {
    ref,
    loses: forward ? undefined : "commits",
    commits: left,
    ...(merge ? { overtaken: merge.id.replace(/\/.*$/, "") } : {}),
  };
}

const unexplained = ({ commits }: Chain, known: Known) =>
  commits.map(explainer(known)).filter((one) => one.class === "unexplained");

/** The branch itself; for a name that was never guarded here, everything that is. */
async function knownRefs(audits: Audits, subject: Subject, ref: string, tip: string): Promise<string[]> {
  if ((await baselineFor(audits, subject, ref, tip)).commits.length > 0) return [ref];
  const recorded = [...recordedRefs(subject)];
  if (recorded.length > 0) return recorded;
  const created = audits.passed(subject.site).filter((one) => one.why === "created");
  return created.map((one) => one.ref);
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
  return new Failure("refused", "no_baseline", `Nothing says what ${branch} had before it was guarded.`, {
    hint: "Have it recorded, and push again: pawl doctor --fix",
    details: { ref },
  });
}
