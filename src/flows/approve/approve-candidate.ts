import { getRun, MORE_WORK } from "../../judge/current-run.ts";
import type { GateResult, RepoState } from "../../judge/gates/gate.ts";
import { settlesItself } from "../../judge/gates/settled.ts";
import type { Keys } from "../../judge/keys.ts";
import { APPROVERS_FILE } from "../../model/approvers.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { isReceiptOf } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { MergeStyle } from "../../model/statement.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Upstream } from "../../ports/remotes.ts";
import type { Site } from "../../ports/sites.ts";
import type { Obstacle } from "../../ports/targets.ts";
import { keysInForce } from "../audit/older-keys.ts";
import { checkTask } from "../check/check-task.ts";
import { receiptOf } from "../check/keep-receipt.ts";
import { keysAt } from "../trust/read-keys.ts";
import { expectSigners } from "../trust/sign.ts";
import { wayTogether } from "./approve-push.ts";

/** One repository that is about to be merged, as it was when it was read. */
export interface CandidateRepo extends RepoState {
  site: Site;
  upstream: Upstream | undefined;
  style: MergeStyle;
  /** Who may decide by the base, and by what the merge would make of it. */
  keys: { before: Keys; after: Keys };
}

/** Everything that a human is asked to say yes to. */
export interface Candidate {
  task: Task;
  /** The digest of the receipt: it stands for the commits, the findings and the evidence. */
  receipt: string;
  repos: CandidateRepo[];
}

export interface LookOptions {
  /** Ask the remotes first whether they moved. */
  fetch: boolean;
  push: boolean;
  /** How it is to be merged; the policy of each repository says so otherwise. */
  style?: MergeStyle | undefined;
  /** The host merges, so files in a checkout here are not in the way. */
  elsewhere?: true;
}

/** Looks at all that an approval rests on, and refuses with the first thing that stands in its way. */
export async function lookForApproval(hands: Hands, id: string, options: LookOptions): Promise<Candidate> {
  const task = await hands.look((reader) => reader.task(id).value);
  checkStatus(task);
  const gate = await checkTask(hands, id, "close", { fresh: true });
  const receipt = await checkReceipt(hands, gate);
  const sites = await hands.git.sites();
  const remotes = await hands.git.remotes();
  const repos: CandidateRepo[] = [];
  for (const repo of gate.repos.filter((one) => one.changed)) {
    const site = sites.named(repo.name);
    const keys = {
      before: await keysInForce(hands, site, refOfBranch(repo.base_branch), repo.base),
      after: await keysAt(hands, site, repo.head),
    };
    await checkKeys(hands, site, repo, keys);
    const style = options.style ?? (await styleOf(hands, repo));
    repos.push({ ...repo, site, keys, style, upstream: await remotes.remoteOf(site, repo.base_branch) });
  }
  if (options.push) for (const repo of repos) checkPublishable(repo);
  if (options.fetch) await fetchBases(hands, repos);
  for (const repo of repos) await checkRepository(hands, id, repo, options);
  return { task, receipt, repos };
}

/** As the base says, not as the task would have it. */
async function styleOf(hands: Hands, { name, base_branch }: RepoState): Promise<MergeStyle> {
  const text = await hands.world.committedPolicy({ name, base_branch });
  if (text === undefined) return "merge";
  return hands.look((reader) => reader.config(`${POLICY_FILE} on ${base_branch}`, text).style);
}

/** Who may decide is not a part of anybody's task: not of its outcome, and not of any commit on the way. Nor could anybody repair a policy that no command can read. */
async function checkKeys(
  hands: Hands,
  site: Site,
  { name, base_branch, base, head }: RepoState,
  { before, after }: CandidateRepo["keys"],
): Promise<void> {
  expectSigners(before, `${base_branch} of ${name}`);
  if (after.unreadable && !before.unreadable)
    throw new Failure(
      "refused",
      "policy_unreadable",
      `This task leaves ${POLICY_FILE} of ${name} unreadable.`,
      {
        hint: `Commit a plain file with correct settings there, not a link: docs/configuration.md lists them.`,
        details: { repo: name, file: POLICY_FILE },
      },
    );
  const isSame = before.digests.approvers === after.digests.approvers;
  const changes = await (await hands.git.targets()).timesChanged(site, base, head, APPROVERS_FILE);
  if (isSame && changes === 0) return;
  const what = isSame ? "has commits that change, and change back," : "changes";
  throw new Failure(
    "refused",
    "approvers_changed",
    `This task ${what} who may approve in ${name} (${APPROVERS_FILE}).`,
    {
      hint: "Remove that change from the task: only `pawl approver add` and `pawl approver remove` can make it.",
      details: { repo: name, file: APPROVERS_FILE },
    },
  );
}

export function checkStatus(task: Task): void {
  const refuse = (code: string, message: string, hint: string) =>
    new Failure("refused", code, message, { hint, details: { task: task.id, status: task.status } });
  switch (task.status) {
    case "active":
    case "review":
      return;
    case "open":
      throw refuse("not_started", `${task.id} was not started.`, `pawl start ${task.id}`);
    case "blocked":
      throw refuse(
        "task_blocked",
        `${task.id} is blocked: ${task.blocker}.`,
        `Once it is resolved: pawl task update ${task.id} --status active`,
      );
    case "dropped":
      throw refuse("task_dropped", `${task.id} was dropped.`, `pawl task update ${task.id} --status open`);
    case "done":
      throw refuse("already_merged", `${task.id} is done: nothing is left to approve.`, MORE_WORK);
    default:
      throw refuse(
        "already_merged",
        `${task.id} is already ${task.status}.`,
        `pawl finish ${task.id} --remove --reason merged`,
      );
  }
}

/** Refuses a user without a git name before anybody waits for remotes and tests. */
export async function expectCommitter(hands: Hands, task: string): Promise<void> {
  const { value } = await hands.look((reader) => getRun(reader, task));
  const [sites, merges] = [await hands.git.sites(), await hands.git.merges()];
  for (const { name } of value.repos) await merges.checkIdentity(sites.named(name));
}

/** The close stage has to be passed now, and to be the very same that somebody saw pass. */
async function checkReceipt(hands: Hands, gate: GateResult): Promise<string> {
  const [first] = gate.reasons;
  if (first || !gate.seal) throw notReady(gate);
  const stored = await hands.look((reader) => receiptOf(reader, gate.task)?.value);
  if (isReceiptOf(stored, gate.seal)) return gate.seal.digest;
  const command = `pawl check --stage close ${gate.task}`;
  const details = { task: gate.task, receipt: stored?.digest, now: gate.seal.digest };
  if (stored === undefined)
    throw new Failure("refused", "no_receipt", `${gate.task} has not been through its close check.`, {
      hint: command,
      details,
    });
  throw new Failure("refused", "stale_receipt", `${gate.task} changed after its close check was passed.`, {
    hint: command,
    details,
  });
}

/** What an approval settles by itself is not worth a word while something else is left to do. */
function notReady(gate: GateResult): Failure {
  const { task } = gate;
  const left = gate.reasons.filter((one) => !settlesItself(one, gate));
  const reasons = left.length > 0 ? left : gate.reasons;
  const [first] = reasons;
  const lines = reasons.flatMap((one) => [
    `  ${one.code}${one.repo ? ` (${one.repo})` : ""}: ${one.message}`,
    ...(reasons.length > 1 ? [`    ${one.owner}: ${one.command}`] : []),
  ]);
  return new Failure(
    "refused",
    first?.code ?? "not_ready",
    [`${plural(reasons.length, "thing is", "things are")} in the way of merging ${task}:`, ...lines].join(
      "\n",
    ),
    {
      hint: first?.command ?? `pawl check --stage close ${task}`,
      details: { task, reasons: gate.reasons, settles_itself: left.length === 0 },
    },
  );
}

function checkPublishable({ name, base_branch, upstream }: CandidateRepo): void {
  if (upstream) return;
  throw new Failure("refused", "no_remote", `${base_branch} of ${name} has no remote to push to.`, {
    hint: "Add one with `git remote add origin <url>`, or approve without --push.",
    details: { repo: name, branch: base_branch },
  });
}

/** Every repository's remote is asked once, because somebody may have pushed since. */
export async function fetchBases(
  hands: Hands,
  repos: readonly Pick<CandidateRepo, "name" | "site" | "upstream">[],
): Promise<void> {
  const remotes = await hands.git.remotes();
  for (const { name, site, upstream } of repos) {
    if (!upstream) continue;
    hands.say(`Asking ${upstream.remote} of ${name} …`);
    try {
      await remotes.fetch(site, upstream.remote, (line) => hands.say(line));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure("unavailable", "remote_unreachable", error.message, {
        hint: "Nothing was changed. Without a connection, --offline merges against what this clone knows.",
        details: { ...error.details, repo: name, remote: upstream.remote },
        cause: error,
      });
    }
  }
}

async function checkRepository(
  hands: Hands,
  task: string,
  repo: CandidateRepo,
  { elsewhere }: LookOptions,
): Promise<void> {
  const targets = await hands.git.targets();
  const { site, name, base_branch, base, head } = repo;
  const unsupported = await targets.unsupported(site, base_branch);
  if (unsupported) throw refusalOf(unsupported, name);
  await checkAgainstRemote(hands, task, repo);
  // The gate saw to this already; it is what makes the merge's tree the very tree that was checked and reviewed.
  if (!(await targets.contains(site, head, base)))
    throw new Failure("refused", "base_moved", `${base_branch} of ${name} moved.`, {
      hint: `pawl refresh ${task}`,
      details: { repo: name },
    });
  if (elsewhere) return;
  if (repo.style === "ff") await checkForward(hands, task, repo);
  const [obstacle] = await targets.obstacles(site, { branch: base_branch, from: base, to: head });
  if (obstacle) throw refusalOf(obstacle, name);
  await (await hands.git.merges()).checkIdentity(site);
}

/**
 * Brought forward, the base's own line has every single commit of the branch. None of them may lead past what was
 * approved before, as the second parent of a merge would, or have a policy for a while that nobody signs.
 */
async function checkForward(hands: Hands, task: string, repo: CandidateRepo): Promise<void> {
  const targets = await hands.git.targets();
  const { site, name, branch, base_branch, base, head } = repo;
  const often = (await targets.timesChanged(site, base, head, POLICY_FILE)) > 1;
  if (!often && (await targets.isStraight(site, base, head))) return;
  const why = often
    ? `several commits of ${branch} change ${POLICY_FILE}`
    : `${branch} has merged ${base_branch}, so it does not directly follow it`;
  throw new Failure("refused", "not_straight", `${name} cannot be fast-forwarded: ${why}.`, {
    hint: `pawl approve ${task} --style merge, or --style squash`,
    details: { repo: name, branch, base: base_branch },
  });
}

async function checkAgainstRemote(hands: Hands, task: string, repo: CandidateRepo): Promise<void> {
  const { site, name, base_branch, base, upstream } = repo;
  const targets = await hands.git.targets();
  const published = upstream && (await targets.tip(site, upstream.tracking));
  if (published === undefined) return;
  const { left: onlyHere, right: onlyThere } = await targets.apart(site, base, published);
  if (onlyThere === 0) return;
  const there = `${upstream?.remote}/${upstream?.ref}`;
  const details = { repo: name, branch: base_branch, remote: there, ahead: onlyHere, behind: onlyThere };
  const where = (await targets.checkouts(site, base_branch))[0] ?? site.mainRoot ?? site.commonDir;
  if (onlyHere > 0)
    throw new Failure(
      "refused",
      "base_diverged",
      `${base_branch} of ${name} and ${there} each have commits that the other does not have (${onlyHere} and ${onlyThere}).`,
      {
        hint: await wayTogether(hands, { name, base_branch, base }),
        details,
      },
    );
  throw new Failure(
    "refused",
    "base_behind_remote",
    `${base_branch} of ${name} is ${plural(onlyThere, "commit")} behind ${there}.`,
    { hint: `git -C "${where}" pull --ff-only, then pawl refresh ${task}`, details },
  );
}

export function refusalOf({ code, message, hint, details }: Obstacle, repo: string): Failure {
  return new Failure("refused", code, message, { hint, details: { repo, ...details } });
}
