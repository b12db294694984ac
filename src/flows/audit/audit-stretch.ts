import { type Finding, judgeBranch, type Verdict } from "../../judge/audit/judge.ts";
import { Failure } from "../../model/failure.ts";
import { branchOfRef, isNothing, STATE_REF } from "../../model/naming.ts";
import type { Audits, BranchTip, RefUpdate } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { describeRoot, untouched } from "./audit-branch.ts";
import { protectedRefs, type RepositoryAudit } from "./audit-repository.ts";
import { beginningOf } from "./beginning.ts";
import { auditDecided } from "./decided.ts";
import { keysLine } from "./keys-line.ts";
import { type Neighbours, neighboursOf } from "./neighbours.ts";
import { baselineFor } from "./one-baseline.ts";
import { removedButListed } from "./removed-keys.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import { withRequests } from "./signed-requests.ts";
import type { Subject } from "./subject.ts";

/**
 * Audits a range such as `a..b`. If `b` is a branch, only that branch's records explain it; otherwise those of
 * any branch.
 */
export async function auditRange(hands: Hands, subject: Subject, range: string): Promise<RepositoryAudit> {
  const audits = await hands.git.audits();
  const { site } = subject;
  await audits.checkWhole(site);
  const [left = "", right = ""] = range.split("..");
  const [from, to] = [await find(audits, site, left || "HEAD"), await find(audits, site, right || "HEAD")];
  const branching = await audits.branching(site, subject.manner.view === "here" ? "own" : "remote");
  const ref = branching.branches.find((one) => branchOfRef(one.ref) === right)?.ref;
  const verdict = await explainStretch(
    audits,
    subject,
    { ref: ref ?? right, old: from, new: to },
    await neighboursOf(audits, subject, branching),
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

/** What a server is about to accept: only commits that it does not have yet need an explanation. */
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
  // pre-receive refuses a push as a whole, so a branch may start from a commit that another one gets by it.
  const fresh = updates.filter((one) => guarded(one.ref) && !isNothing(one.new)).map(arriving);
  const branches = [
    ...fresh,
    ...branching.branches.filter((one) => !fresh.some((other) => other.ref === one.ref)),
  ];
  const neighbours = await neighboursOf(audits, subject, { branches, base: branching.base });
  for (const update of updates.filter((one) => one.ref === STATE_REF || guarded(one.ref))) {
    const where = branchOfRef(update.ref);
    const find = (code: string, message: string) =>
      done.findings.push({ code, repo: site.name, where, message });
    if (isNothing(update.new)) {
      find("branch_deleted", `${where} is protected and cannot be deleted.`);
      continue;
    }
    if (!isNothing(update.old) && !(await audits.contains(site, update.new, update.old)))
      find(
        "rewound",
        `${where} would lose commits: it can only move forward from ${update.old.slice(0, 12)}.`,
      );
    if (update.ref === STATE_REF) {
      if (!isNothing(update.old)) done.findings.push(...(await removedRecords(audits, site, update)));
      continue;
    }
    const { branch, findings, notes } = await explainStretch(audits, subject, update, neighbours, "own");
    done.branches.push(branch);
    done.findings.push(...findings);
    done.findings.push(...(await removedButListed(audits, subject, arriving(update), neighbours.older)));
    done.notes.push(...notes);
  }
  return done;
}

/** A branch can lose records even by moving forward, to a commit whose tree lacks them. */
async function removedRecords(
  audits: Audits,
  site: Site,
  { old, new: fresh }: RefUpdate,
): Promise<Finding[]> {
  return (await audits.removedRecords(site, old, fresh)).map((where) => ({
    code: "record_missing",
    repo: "pawl/state",
    where,
    message:
      "The server has this record, and records are never removed. Restore it, then send again: pawl sync",
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
  neighbours: Neighbours,
  records: "own" | "any",
): Promise<Verdict> {
  const { site, names, ledger } = around;
  const named = ref.startsWith("refs/heads/") ? ref : undefined;
  const { baseline, subject } =
    named === undefined
      ? { baseline: await baselineFor(audits, around, "", tip), subject: around }
      : await beginningOf(audits, around, { ref, tip }, neighbours);
  if (named !== undefined && baseline.from === "none")
    return untouched(audits, subject, arriving({ ref, old, new: tip }));
  // How an existing branch moves on is for its own records to explain, even where other branches have the
  // same commits.
  const begin = records === "own" && baseline.born && !isNothing(old) ? [] : baseline.commits;
  const without = [...begin, old].filter((id) => !isNothing(id));
  const commits = await audits.history(site, { tip, without });
  const line = await keysLine(audits, subject, { tip, without, commits });
  const closed = ledger.unlocks.filter(
    (one) => names.has(one.repo ?? "") && one.status === "closed" && (named ?? one.ref) === one.ref,
  );
  const { unlocked, rejected } = await unlockedCommits(audits, subject, line, closed, without);
  const approvals = await signedMerges(audits, subject, line, named);
  const none = { baseline: new Set<string>(), remote: new Map(), unapproved: new Map() };
  const explained = { ...none, approvals, unlocked, rejected };
  // The whole branch is needed: a request that explained an earlier commit must not explain one in this range
  // again.
  const whole = () => audits.history(site, { tip, without: begin });
  const facts = { ref, tip, standsFor: undefined, commits, earlier: 0, moves: [], remotes: [], missing: [] };
  const verdict = judgeBranch(
    site.name,
    { ...facts, unlogged: false, doubtful: new Map(), late: new Set() },
    {
      known: await withRequests(audits, subject, line, named, whole, explained),
      unlockedMoves: [],
    },
  );
  return { ...verdict, branch: { ...verdict.branch, root: describeRoot(verdict.branch, baseline) } };
}
