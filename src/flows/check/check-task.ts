import { gatherAuthors } from "../../judge/authors.ts";
import { findRun } from "../../judge/current-run.ts";
import type { RecordFacts, RepoFacts } from "../../judge/gates/facts.ts";
import type { GateResult, Seal, Stage } from "../../judge/gates/gate.ts";
import {
  breachOf,
  doubtsAbout,
  type RecordDoubt,
  type WriteEvent,
  withoutDoubted,
} from "../../judge/gates/integrity.ts";
import { judgeRecords } from "../../judge/gates/judge-records.ts";
import { judgeRepos } from "../../judge/gates/judge-repos.ts";
import { isProtected, requiredChecks } from "../../judge/gates/policy.ts";
import { reasonsOf } from "../../judge/gates/rules.ts";
import { enrolled, WAY_OUT, whyNobodyCanSign } from "../../judge/keys.ts";
import type { Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { snapshotRef } from "../../model/naming.ts";
import { POLICY_FILE, patchFile } from "../../model/paths.ts";
import type { Kind, Problem, Stored } from "../../model/record.ts";
import { decision, evidence, type Finding, finding, handoff, review } from "../../model/records/parts.ts";
import { type Run, type RunRepo, receiptText, run } from "../../model/records/run.ts";
import type { BranchState } from "../../ports/branches.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import { findTakenBack, withoutNew } from "../records/find-doubts.ts";
import { keyTextsAt, readKeys } from "../trust/read-keys.ts";

/** Looks at everything a stage depends on, and says what is missing. What cannot be read is an error, never a pass. */
export async function checkTask(
  hands: Hands,
  task: string,
  stage: Stage,
  /** `fresh`: nothing that was remembered from an earlier look counts. `reviewed`: asks for a review, whatever the profile. */
  options: { fresh?: boolean; reviewed?: boolean } = {},
): Promise<GateResult> {
  const { facts: written, texts, all } = await hands.look((reader) => gatherRecords(reader, task));
  const doubts = await judgeHistory(hands, task, all, options.fresh ?? false);
  const facts: RecordFacts = {
    ...written,
    evidence: withoutDoubted(written.evidence, doubts),
    reviews: withoutDoubted(written.reviews, doubts),
    handoffs: withoutDoubted(written.handoffs, doubts),
  };
  const repos = stage === "plan" || !facts.run ? [] : await lookAtRepos(hands, facts, facts.run, options);
  const needsDigest = facts.task.profile === "strict" && facts.task.plan !== "";
  const planDigest = needsDigest ? await hands.sha256(facts.task.plan) : undefined;
  const breaches = judgeRecords(facts, stage, planDigest);
  if (stage !== "plan") breaches.push(...judgeRepos(facts, repos));
  breaches.push(...[...doubts, ...(await findTakenBack(hands))].map(breachOf));
  const { profile } = facts.task;
  const reasons = reasonsOf(breaches, stage, options.reviewed && profile === "light" ? "standard" : profile);
  const ready = reasons.length === 0;
  return {
    task,
    stage,
    ready,
    reasons,
    repos: repos.flatMap(stateOf),
    seal:
      ready && stage === "close"
        ? await sealOf(hands, facts, repos, texts, options.fresh ?? false)
        : undefined,
  };
}

export interface GatheredRecords {
  facts: RecordFacts;
  /** The exact texts that the gate rests on, by path. */
  texts: [string, string][];
  /** Every record of the task that the log has to bear out. */
  all: [string, string][];
}

export function gatherRecords(reader: Reader, id: string): GatheredRecords {
  const task = reader.task(id);
  const stored = {
    findings: whole(reader.parts(finding, id)),
    evidence: whole(reader.parts(evidence, id)),
    reviews: whole(reader.parts(review, id)),
    handoffs: whole(reader.parts(handoff, id)),
  };
  const others = [reader.parts(decision, id).records, reader.parts(run, id).records].flat();
  const values = <K extends Kind>(records: Stored<K>[]) => records.map((one) => one.value);
  const print = (one: { path: string; text: string }): [string, string] => [one.path, one.text];
  const proofs = [...stored.findings, ...stored.evidence, ...stored.reviews].map(print);
  return {
    facts: {
      task: task.value,
      run: findRun(reader, id)?.value,
      findings: values(stored.findings),
      evidence: values(stored.evidence),
      reviews: values(stored.reviews),
      handoffs: values(stored.handoffs),
      authors: gatherAuthors(reader, id),
      waitingFor: openDependencies(reader, id),
    },
    texts: proofs,
    all: [print(task), ...proofs, ...stored.handoffs.map(print), ...others.map(print)],
  };
}

export function openDependencies(reader: Reader, id: string): string[] {
  return reader.task(id).value.depends_on.filter((one) => !isMet(reader, one));
}

/** The records of a task that its log does not bear out, by id. */
export async function doubtedRecords(hands: Hands, task: string): Promise<string[]> {
  const { all } = await hands.look((reader) => gatherRecords(reader, task));
  return (await judgeHistory(hands, task, all, true)).map((one) => one.record);
}

/** What the log does not bear out. The same records and events have the same answer, which a mere look remembers. */
async function judgeHistory(
  hands: Hands,
  task: string,
  all: readonly [string, string][],
  fresh: boolean,
): Promise<RecordDoubt[]> {
  const events = await hands.look((reader) => reader.events({ task, limit: Number.POSITIVE_INFINITY }));
  const told = events.map(
    ({ event, path, text, before, record, actor, was, voided }) =>
      ({ event, path, text, before, record, actor, was, voided }) as WriteEvent,
  );
  const from = JSON.stringify([all, told]);
  const known = fresh ? undefined : hands.recall(`history of ${task}`, from);
  if (known) return withoutNew(hands, JSON.parse(known) as RecordDoubt[]);
  const records = await Promise.all(
    all.map(async ([path, text]) => ({ path, text: await hands.sha256(text) })),
  );
  const doubts = doubtsAbout(told, records);
  hands.remember(`history of ${task}`, from, JSON.stringify(doubts));
  return withoutNew(hands, doubts);
}

/** A dropped or missing task will never be merged, so whoever waits for it has to decide. */
function isMet(reader: Reader, id: string): boolean {
  if (!reader.hasTask(id)) return false;
  try {
    return MERGED.includes(reader.task(id).value.status);
  } catch (error) {
    // Nobody can tell that it is merged, so it is not.
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** A record that cannot be read could be the open finding. */
function whole<K extends Kind>(found: { records: Stored<K>[]; problems: Problem[] }): Stored<K>[] {
  const [problem] = found.problems;
  if (!problem) return found.records;
  throw new Failure("unreadable", "gate_unreadable", `Could not judge the gate: ${problem.message}`, {
    hint: problem.hint ?? "Repair the record.",
    details: { file: problem.file },
  });
}

async function lookAtRepos(
  hands: Hands,
  { findings }: RecordFacts,
  run: Run,
  options: { fresh?: boolean },
): Promise<RepoFacts[]> {
  const branches = await hands.git.branches();
  const targets = await hands.world.targets(
    run.repos.map((one) => ({ repo: one.name, branch: one.base_branch })),
  );
  return Promise.all(
    run.repos.map(async (repo) => {
      const state = await branches.look(repo, options);
      const lostFixes: string[] = [];
      for (const one of findings.filter((each) => isFixedIn(each, repo.name))) {
        const [from, to = ""] = [one.reopened_at ?? one.commit, one.resolved_commit];
        const isKept =
          (await branches.contains(repo, [to], options)) &&
          !(from && state.head && (await branches.undone(repo.name, state.head, { from, to }, options)));
        if (!isKept) lostFixes.push(one.id);
      }
      const snapshot = branches.ref(repo.name, snapshotRef(run.id));
      const unsignable = await findUnsignable(hands, repo, state);
      const guarded = targets.find((one) => one.repo === repo.name)?.guarded ?? true;
      return hands.look((reader) => ({
        ...describe(reader, repo, state, lostFixes, isKept(reader, run, repo, snapshot)),
        guarded,
        unsignable,
      }));
    }),
  );
}

/** Whether anybody could sign what follows. No task changes the keys, so they are the base's; git is asked only where the policy speaks of signatures. */
async function findUnsignable(
  hands: Hands,
  { name, base_branch }: RunRepo,
  { base, head, policy }: BranchState,
): Promise<string | undefined> {
  const brought = policy.worktree === policy.base ? "" : (policy.worktree ?? "");
  if (!/signed/.test(`${policy.base}${brought}`) || base === undefined || head === undefined)
    return undefined;
  const [site, audits] = [(await hands.git.sites()).named(name), await hands.git.audits()];
  const texts = await keyTextsAt(audits, site, base);
  const before = await readKeys(hands, texts);
  // Where nobody is enrolled yet, the first key needs no other.
  const now = enrolled(before) ? whyNobodyCanSign(before) : undefined;
  if (now !== undefined) return `The policy of ${base_branch} demands ${now}. ${WAY_OUT}`;
  const after = { ...texts, policy: await audits.fileAt(site, head, POLICY_FILE) };
  const then = brought === "" ? undefined : whyNobodyCanSign(await readKeys(hands, after));
  if (then === undefined) return undefined;
  return `This task's policy would demand ${then}: nobody could approve anything after it. Add \`level: possession\` beside \`approvals: signed\`, or first enrol a key that fits.`;
}

/** What the run's record says was saved is there: the commit under its ref, and the patch in the state. */
function isKept(reader: Reader, run: Run, { name }: RunRepo, snapshot: string | undefined): boolean {
  const [task, part] = [taskOf(run.id), partOf(run.id)];
  const saved = run.snapshots.find((one) => one.repo === name);
  return saved !== undefined && saved.commit === snapshot && reader.hasFile(patchFile(task, part, name));
}

const isFixedIn = (finding: Finding, repo: string) =>
  finding.kind === "branch" && finding.status === "fixed" && finding.repo === repo;

function describe(
  reader: Reader,
  repo: RunRepo,
  state: BranchState,
  lostFixes: string[],
  kept: boolean,
): Omit<RepoFacts, "guarded" | "unsignable"> {
  const { policy, defaultBranch, ...git } = state;
  const parse = (text: string | undefined, where: string): Config[] =>
    text === undefined ? [] : [reader.config(where, text)];
  const [committed] = parse(policy.base, `${POLICY_FILE} on ${repo.base_branch}`);
  const copies = parse(policy.worktree, `${repo.worktree}/${POLICY_FILE}`);
  if (!committed) copies.push(...parse(policy.main, POLICY_FILE));
  return {
    ...git,
    repo,
    lostFixes,
    snapshotKept: kept,
    isProtected:
      repo.branch === repo.base_branch || isProtected(repo.branch, committed, copies, defaultBranch),
    checks: requiredChecks(committed, copies),
  };
}

function stateOf({ repo, head, tree, base, changed, guarded, checks }: RepoFacts): GateResult["repos"] {
  if (head === undefined || tree === undefined || base === undefined) return [];
  const { name, branch, base_branch } = repo;
  const unchecked = checks === "none";
  const required = unchecked ? [] : checks.map((one) => one.name);
  return [{ name, branch, base_branch, guarded, unchecked, required, head, tree, base, changed }];
}

/** Everything that a passed gate rests on, in one digest: whatever changes it makes another one. */
async function sealOf(
  hands: Hands,
  { task, run }: RecordFacts,
  repos: readonly RepoFacts[],
  texts: readonly [string, string][],
  fresh: boolean,
): Promise<Seal> {
  const { profile, plan, slices, base_branch } = task;
  const checks = repos.map((one) => [one.repo.name, one.checks]);
  const snapshots = run?.snapshots.map((one) => [one.repo, one.commit, one.patch_sha256]);
  const { refreshed } = run ?? {};
  const content = JSON.stringify({ profile, plan, slices, base_branch, checks, snapshots, refreshed });
  const sealed = repos
    .filter((one) => one.changed)
    .flatMap(stateOf)
    .map(({ name, head, tree, base }) => ({ name, head, tree, base }));
  // Loading the cryptography costs as much as the rest of a look; the same words have the same digests.
  const from = JSON.stringify({ sealed, content, texts });
  const known = fresh ? undefined : hands.recall(`seal of ${task.id}`, from);
  if (known) return JSON.parse(known) as Seal;
  const records = await hands.sha256(content);
  const proofs: Seal["proofs"] = [];
  for (const [path, text] of texts) proofs.push({ path, sha256: await hands.sha256(text) });
  const bound = { repos: sealed, records, proofs };
  const seal = { ...bound, digest: await hands.sha256(receiptText(bound)) };
  hands.remember(`seal of ${task.id}`, from, JSON.stringify(seal));
  return seal;
}
