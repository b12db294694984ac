import {
  type AuditedBranch,
  type Finding,
  judgeBranch,
  judgeTrace,
  type Verdict,
} from "../../judge/audit/judge.ts";
import { isRightlyOpen } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import { matchesPattern } from "../../model/naming.ts";
import { protectedPatterns } from "../../model/protection.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import { quoted } from "../../model/text.ts";
import type { Audits, Branching, BranchTip, RefUpdate } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { auditBranch, describeRoot, hasGuard, untouched } from "./audit-branch.ts";
import { beginningOf } from "./beginning.ts";
import { auditDecided, type DecidedAtTheDoor, type DecidedRecords } from "./decided.ts";
import { keysLine } from "./keys-line.ts";
import { mergesOf } from "./ledger.ts";
import { deletedBranches } from "./lost.ts";
import { recordedRefs } from "./one-baseline.ts";
import { removedButListed } from "./removed-keys.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import type { Subject } from "./subject.ts";
import { tellUncommitted } from "./uncommitted.ts";

export interface RepositoryAudit {
  branches: AuditedBranch[];
  findings: Finding[];
  /** What humans decided with their keys, and no branch moved by it. */
  decided: DecidedAtTheDoor[];
  notes: string[];
}

/** The records themselves: they may grow, and nobody may take them back. */
export const STATE_REF = "refs/heads/pawl/state";

const nameOf = (ref: string) => ref.replace(/^refs\/heads\//, "");
const isNothing = (id: string) => /^0*$/.test(id);

/** Every protected branch of one repository, or only one of them. */
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
  for (const branch of wanted) {
    verdicts.push(await auditBranch(audits, subject, branch, branching.branches));
    listed.push(...(await removedButListed(audits, subject, branch, branching.branches)));
  }
  const local =
    manner.view === "here" ? await lookAround(audits, subject, wanted, branching.installed) : undefined;
  const atTheDoor =
    only === undefined ? await auditDecided(audits, subject, branching.branches) : NOTHING_DECIDED;
  return {
    branches: verdicts.flatMap((one) => [one.branch, ...(one.ahead ?? [])]),
    decided: atTheDoor.decided,
    findings: [
      ...atTheDoor.findings,
      ...verdicts.flatMap((one) => one.findings),
      ...listed,
      ...(only === undefined ? deletedBranches(subject, branching.branches) : []),
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

/** The policy is what the protected tip has; a branch that has a baseline cannot be talked out of being protected. */
export async function protectedRefs(
  hands: Hands,
  { site, names, ledger }: Subject,
  { committed, copy, defaultBranch }: Branching,
): Promise<(ref: string) => boolean> {
  const patterns = await hands.look((reader) => {
    const read = (where: string, text: string | undefined) =>
      text === undefined ? [] : [reader.config(where, text)];
    const [policy] = read(`.pawl/config.yaml on the protected branch of ${site.name}`, committed);
    return protectedPatterns(policy, read(".pawl/config.yaml", copy), defaultBranch);
  });
  const recorded = recordedRefs({ ledger, names });
  return (ref) => recorded.has(ref) || patterns.some((one) => matchesPattern(one, nameOf(ref)));
}

async function lookAround(
  audits: Audits,
  subject: Subject,
  branches: readonly BranchTip[],
  installed: string | undefined,
): Promise<{ findings: Finding[]; notes: string[] }> {
  const { site, names, ledger, manner, remotes } = subject;
  const records = ledger.repositories.filter((one) => names.has(one.id));
  const traces = await audits.traces(site, {
    protectedRefs: branches.map((one) => one.ref),
    granted: mergesOf(ledger, names).filter((one) => one.status === "prepared"),
    open: await rightlyOpen(audits, subject),
    guarded: records.some((one) => one.guarded.some((clone) => manner.clones.has(clone))),
  });
  const active = audits.guardActive(site);
  // A repository that was only linked has a record that says nothing of a guard.
  const state = records.some((one) => one.baseline.length + one.guarded.length > 0);
  const changed = remotes.filter((one) => one.standing === "changed");
  return {
    findings: [
      ...missingParts(hasGuard(installed), { guard: active, state }).map((message) => ({
        ...{ code: "installation_gone", repo: site.name, where: ".git/pawl", message },
      })),
      ...(await ownRecordsElsewhere(audits, subject)),
      ...traces.map((one) => judgeTrace(site.name, one)),
      ...changed.map(({ name, why = "does not lead where a human confirmed it" }) => ({
        ...{ code: "remote_changed", repo: site.name, where: name },
        message: `${name} ${why}. A human confirms it: pawl remote trust ${quoted(name)}`,
      })),
    ],
    notes: active ? [] : [`The guard is not active in ${site.name}.`],
  };
}

/** A linked repository has no records of its own; where its remote has some, they were taken away from it here. */
async function ownRecordsElsewhere(audits: Audits, { site, remotes }: Subject): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { name } of site.home ? [] : remotes)
    if ((await audits.resolve(site, `refs/remotes/${name}/pawl/state`)) !== undefined)
      found.push({
        code: "state_elsewhere",
        repo: site.name,
        where: `refs/remotes/${name}/pawl/state`,
        message: `${name} has records of this repository, but this clone is led to those of another one. A human looks at which are right; its own come back with: pawl repo remove ${quoted(site.name)}, then pawl sync`,
      });
  return found;
}

/** Unlocks that are open because a human said so, and for as long; where decisions are signed, the signature tells. */
async function rightlyOpen(audits: Audits, { site, ledger, names, readKeys, checkSignature }: Subject) {
  const found: Unlock[] = [];
  for (const one of ledger.unlocks.filter((each) => each.status === "open")) {
    const known = one.tip !== undefined && names.has(one.repo ?? "") ? one.tip : undefined;
    const keys = known === undefined ? undefined : await readKeys(await keyTextsAt(audits, site, known));
    if (!keys || isRightlyOpen(one, keys, checkSignature)) found.push(one);
  }
  return found;
}

/** The branch says that pawl guards it, and this clone has no guard or knows nothing: wiped, or never installed here. */
function missingParts(installed: boolean, there: { guard: boolean; state: boolean }): string[] {
  const what = "The protected branch has pawl installed, but this clone has";
  const bring = "Bring them: pawl sync";
  return [
    ...(there.guard || !installed ? [] : [`${what} no guard. Put it in place: pawl install`]),
    ...(there.state || there.guard || !installed ? [] : [`${what} no records. ${bring}`]),
    ...(there.state || !there.guard
      ? []
      : [`This clone is guarded, but the records that it is led to know nothing of it. ${bring}`]),
  ];
}

/** A stretch of history such as `a..b`, explained by whatever was approved for any branch. */
export async function auditRange(hands: Hands, subject: Subject, range: string): Promise<RepositoryAudit> {
  const audits = await hands.git.audits();
  const { site } = subject;
  await audits.checkWhole(site);
  const [left = "", right = ""] = range.split("..");
  const [from, to] = [await find(audits, site, left || "HEAD"), await find(audits, site, right || "HEAD")];
  const { branches } = await audits.branching(site, subject.manner.view === "here" ? "own" : "remote");
  const ref = branches.find((one) => nameOf(one.ref) === right)?.ref;
  const verdict = await explainStretch(
    audits,
    subject,
    { ref: ref ?? right, old: from, new: to },
    branches,
    "any",
  );
  return { branches: [verdict.branch], findings: verdict.findings, decided: [], notes: verdict.notes };
}

async function find(audits: Audits, site: Site, name: string): Promise<string> {
  const found = await audits.resolve(site, name);
  if (found !== undefined) return found;
  throw new Failure("not_found", "no_commit", `${site.name} has no commit "${name}".`, {
    hint: "Name a branch, or two commits as in main~5..main.",
    details: { field: "range" },
  });
}

/** What a server is about to take: only what it does not have yet has to be explained. */
export async function auditUpdates(
  hands: Hands,
  subject: Subject,
  updates: readonly RefUpdate[],
): Promise<RepositoryAudit> {
  const audits = await hands.git.audits();
  const { site } = subject;
  const branching = await audits.branching(site, "own");
  const guarded = await protectedRefs(hands, subject, branching);
  const done: RepositoryAudit = {
    branches: [],
    ...(await auditDecided(audits, subject, branching.branches)),
  };
  // All of a push is taken, or nothing: a branch may begin with what another one gets by the same push.
  const fresh = updates.filter((one) => guarded(one.ref) && !isNothing(one.new)).map(arriving);
  const branches = [
    ...fresh,
    ...branching.branches.filter((one) => !fresh.some((other) => other.ref === one.ref)),
  ];
  for (const update of updates.filter((one) => one.ref === STATE_REF || guarded(one.ref))) {
    const where = nameOf(update.ref);
    const find = (code: string, message: string) =>
      done.findings.push({ code, repo: site.name, where, message });
    if (isNothing(update.new)) {
      find("branch_deleted", `${where} is protected and may not be deleted.`);
      continue;
    }
    if (!isNothing(update.old) && !(await audits.contains(site, update.new, update.old)))
      find("rewound", `${where} would lose commits: it may only go forward from ${update.old.slice(0, 12)}.`);
    if (update.ref === STATE_REF) {
      if (!isNothing(update.old)) done.findings.push(...(await removedRecords(audits, site, update)));
      continue;
    }
    const { branch, findings, notes } = await explainStretch(audits, subject, update, branches, "own");
    done.branches.push(branch);
    done.findings.push(...findings);
    done.findings.push(...(await removedButListed(audits, subject, arriving(update), branches)));
    done.notes.push(...notes);
  }
  return done;
}

/** A branch that goes forward by a commit without the records has lost them all the same. */
async function removedRecords(
  audits: Audits,
  site: Site,
  { old, new: fresh }: RefUpdate,
): Promise<Finding[]> {
  return (await audits.removedRecords(site, old, fresh)).map((where) => ({
    code: "record_missing",
    repo: "pawl/state",
    where,
    message: "The server has this, and it may only grow. Bring it back, and send it again: pawl sync",
  }));
}

const arriving = ({ ref, new: tip }: RefUpdate): BranchTip => ({
  ref,
  source: ref,
  tip,
  standsFor: undefined,
});

async function explainStretch(
  audits: Audits,
  around: Subject,
  { ref, old, new: tip }: RefUpdate,
  branches: readonly BranchTip[],
  records: "own" | "any",
): Promise<Verdict> {
  const { site, names, ledger } = around;
  const named = ref.startsWith("refs/heads/") ? ref : undefined;
  const { baseline, subject } = await beginningOf(audits, around, { ref: named ?? "", tip }, branches);
  if (named !== undefined && baseline.from === "none")
    return untouched(audits, subject, arriving({ ref, old, new: tip }));
  // Of a branch that is there, only its own records say how it goes on; which commits others have does not matter.
  const begin = records === "own" && baseline.born && !isNothing(old) ? [] : baseline.commits;
  const without = [...begin, old].filter((id) => !isNothing(id));
  const commits = await audits.history(site, { tip, without });
  const line = await keysLine(audits, subject, { tip, without, commits });
  const closed = ledger.unlocks.filter(
    (one) => names.has(one.repo ?? "") && one.status === "closed" && (named ?? one.ref) === one.ref,
  );
  const { unlocked, rejected } = await unlockedCommits(audits, subject, line, closed, without);
  const approvals = await signedMerges(audits, subject, line, named);
  const facts = { ref, tip, standsFor: undefined, commits, earlier: 0, moves: [], remotes: [], missing: [] };
  const verdict = judgeBranch(
    site.name,
    { ...facts, unlogged: false, doubtful: new Map(), late: new Set() },
    {
      known: { baseline: new Set(), approvals, unlocked, rejected, remote: new Map(), unapproved: new Map() },
      unlockedMoves: [],
    },
  );
  return { ...verdict, branch: { ...verdict.branch, root: describeRoot(verdict.branch, baseline) } };
}
