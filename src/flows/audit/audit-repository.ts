import { type AuditedBranch, type Finding, judgeTrace, type Verdict } from "../../judge/audit/judge.ts";
import { isRightlyOpen, strictest } from "../../judge/keys.ts";
import { branchOfRef, matchesPattern } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { protectedPatterns } from "../../model/protection.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import { quoted } from "../../model/text.ts";
import type { Audits, Branching, BranchTip } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { auditBranch, hasGuard } from "./audit-branch.ts";
import { auditDecided, type DecidedAtTheDoor, type DecidedRecords } from "./decided.ts";
import { mergesOf } from "./ledger.ts";
import { deletedBranches } from "./lost.ts";
import { neighboursOf } from "./neighbours.ts";
import { olderKeys } from "./older-keys.ts";
import { recordedRefs } from "./one-baseline.ts";
import { removedButListed } from "./removed-keys.ts";
import type { Subject } from "./subject.ts";
import { tellUncommitted } from "./uncommitted.ts";

export interface RepositoryAudit {
  branches: AuditedBranch[];
  findings: Finding[];
  /** What humans decided with their keys without moving a branch. */
  decided: DecidedAtTheDoor[];
  notes: string[];
}

/** Audits every protected branch of a repository, or only the one named. */
export async function auditRepository(
  hands: Hands,
  subject: Subject,
  only: string | undefined,
): Promise<RepositoryAudit> {
  const audits = await hands.git.audits();
  const { site, manner } = subject;
  await audits.checkWhole(site);
  const branching = await audits.branching(site, manner.view === "here" ? "own" : "remote");
  const guarded = await protectedRefs(hands, subject, branching);
  const wanted = branching.branches.filter(({ ref }) => (only === undefined ? guarded(ref) : ref === only));
  const verdicts: (Verdict & { ahead?: AuditedBranch[] })[] = [];
  const listed: Finding[] = [];
  const neighbours = await neighboursOf(audits, subject, branching);
  for (const branch of wanted) {
    verdicts.push(await auditBranch(audits, subject, branch, neighbours));
    listed.push(...(await removedButListed(audits, subject, branch, neighbours.older)));
  }
  const local =
    manner.view === "here"
      ? await lookAround(audits, subject, wanted, { installed: branching.installed, older: neighbours.older })
      : undefined;
  const atTheDoor =
    only === undefined ? await auditDecided(audits, subject, branching.branches) : NOTHING_DECIDED;
  return {
    branches: verdicts.flatMap((one) => [one.branch, ...(one.ahead ?? [])]),
    decided: atTheDoor.decided,
    findings: [
      ...atTheDoor.findings,
      ...verdicts.flatMap((one) => one.findings),
      ...listed,
      ...(only === undefined ? deletedBranches(subject, branching.branches, guarded) : []),
      ...(local?.findings ?? []),
    ],
    notes: [
      ...verdicts.flatMap((one) => one.notes),
      ...atTheDoor.notes,
      ...(local?.notes ?? []),
      ...(local ? await tellUncommitted(hands, site, guarded) : []),
    ],
  };
}

const NOTHING_DECIDED: DecidedRecords = { decided: [], findings: [], notes: [] };

/**
 * The policy is the one on the protected tip. A branch with a baseline stays protected, whatever the policy
 * says now.
 */
export async function protectedRefs(
  hands: Hands,
  { site, names, ledger }: Subject,
  { committed, copy, defaultBranch }: Branching,
): Promise<(ref: string) => boolean> {
  const patterns = await hands.look((reader) => {
    const read = (where: string, text: string | undefined) =>
      text === undefined ? [] : [reader.config(where, text)];
    const [policy] = read(`${POLICY_FILE} on the protected branch of ${site.name}`, committed);
    return protectedPatterns(policy, read(POLICY_FILE, copy), defaultBranch);
  });
  const recorded = recordedRefs({ ledger, names });
  return (ref) => recorded.has(ref) || patterns.some((one) => matchesPattern(one, branchOfRef(ref)));
}

async function lookAround(
  audits: Audits,
  subject: Subject,
  branches: readonly BranchTip[],
  { installed, older }: { installed: string | undefined; older: readonly BranchTip[] },
): Promise<{ findings: Finding[]; notes: string[] }> {
  const { site, names, ledger, manner, remotes } = subject;
  const records = ledger.repositories.filter((one) => names.has(one.id));
  const traces = await audits.traces(site, {
    protectedRefs: branches.map((one) => one.ref),
    granted: mergesOf(ledger, names).filter((one) => one.status === "prepared"),
    open: await rightlyOpen(audits, subject, older),
    guarded: records.some((one) => one.guarded.some((clone) => manner.clones.has(clone))),
  });
  const active = audits.guardActive(site);
  // The record of a repository that was only linked says nothing about a guard.
  const state = records.some((one) => one.baseline.length + one.guarded.length > 0);
  const changed = remotes.filter((one) => one.standing === "changed");
  return {
    findings: [
      ...missingParts(hasGuard(installed), { guard: active, state }).map((message) => ({
        code: "installation_gone",
        repo: site.name,
        where: ".git/pawl",
        message,
      })),
      ...(await ownRecordsElsewhere(audits, subject)),
      ...traces.map((one) => judgeTrace(site.name, one)),
      ...changed.map(({ name, why = "no longer points where a human confirmed" }) => ({
        code: "remote_changed",
        repo: site.name,
        where: name,
        message: `${name} ${why}. A human can confirm it: pawl remote trust ${quoted(name)}`,
      })),
    ],
    notes: active ? [] : [`The guard is not active in ${site.name}.`],
  };
}

/**
 * A linked repository has no records of its own. If its remote has some, this clone was pointed away from
 * them.
 */
async function ownRecordsElsewhere(audits: Audits, { site, remotes }: Subject): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { name } of site.home ? [] : remotes)
    if ((await audits.resolve(site, `refs/remotes/${name}/pawl/state`)) !== undefined)
      found.push({
        code: "state_elsewhere",
        repo: site.name,
        where: `refs/remotes/${name}/pawl/state`,
        message: `${name} has records of this repository, but this clone uses those of another one. A human has to check which are right; to get its own back: pawl repo remove ${quoted(site.name)}, then pawl sync`,
      });
  return found;
}

/**
 * Open unlocks that a human really opened, for exactly this long; where decisions are signed, the signature
 * proves it. A branch made later demands no less than an older one. Only a branch that never had a commit is
 * opened without naming one.
 */
async function rightlyOpen(audits: Audits, subject: Subject, older: readonly BranchTip[]) {
  const { site, ledger, names, readKeys, checkSignature } = subject;
  const isRight = async (one: Unlock) => {
    if (!names.has(one.repo ?? "")) return true;
    const known = older.find((each) => each.ref === one.ref)?.tip;
    const tip = one.tip ?? known;
    if (tip === undefined) return true;
    const own = await readKeys(await keyTextsAt(audits, site, tip));
    return isRightlyOpen(
      one,
      strictest(own, await olderKeys(audits, subject, one.ref, older)),
      checkSignature,
    );
  };
  const found: Unlock[] = [];
  for (const one of ledger.unlocks) if (one.status === "open" && (await isRight(one))) found.push(one);
  return found;
}

/**
 * The branch says that pawl guards it, but this clone lacks the guard or the records: deleted, or never
 * installed here.
 */
function missingParts(installed: boolean, there: { guard: boolean; state: boolean }): string[] {
  const what = "The protected branch has pawl installed, but this clone has";
  const bring = "To get them: pawl sync";
  return [
    ...(there.guard || !installed ? [] : [`${what} no guard. To install it: pawl install`]),
    ...(there.state || there.guard || !installed ? [] : [`${what} no records. ${bring}`]),
    ...(there.state || !there.guard
      ? []
      : [`This clone is guarded, but the records it uses do not mention it. ${bring}`]),
  ];
}
