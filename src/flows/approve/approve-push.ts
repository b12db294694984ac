import { change } from "../../judge/change.ts";
import type { RepoState } from "../../judge/gates/gate.ts";
import { redoCommand } from "../../judge/unpublished.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { branchOfRef, refOfBranch } from "../../model/naming.ts";
import { type Approval, approval } from "../../model/records/run.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { exchangeState } from "../sync/exchange.ts";

interface Unpublished {
  repo: string;
  reason: "rejected" | "unreachable" | "refused";
  said: string;
}

/**
 * Publishes exactly what was approved, repository by repository; what has arrived is noted at once. The merge itself
 * stays whatever a remote says.
 */
export async function pushApproval(hands: Hands, task: string, known: Approval): Promise<Approval> {
  const sites = await hands.git.sites();
  const remotes = await hands.git.remotes();
  if (known.repos.some((one) => !one.pushed)) await publishRecords(hands, task);
  const part = known.id.slice(task.length + 1);
  const failed: Unpublished[] = [];
  let current = known;
  for (const repo of known.repos.filter((one) => !one.pushed)) {
    const site = sites.named(repo.name);
    const branch = branchOfRef(repo.ref);
    const upstream = await remotes.remoteOf(site, branch);
    if (!upstream) {
      failed.push({ repo: repo.name, reason: "unreachable", said: `${branch} has no remote.` });
      continue;
    }
    hands.say(`Pushing ${branch} of ${repo.name} to ${upstream.remote} …`);
    const refspec = `${repo.new}:${refOfBranch(upstream.ref)}`;
    const pushed = await remotes.push(site, upstream.remote, [refspec], (line) => hands.say(line));
    if (pushed.ok)
      current = (await hands.record((reader, at) => notePush(reader, at, { task, part, repo: repo.name })))
        .data;
    else failed.push({ repo: repo.name, reason: pushed.reason, said: pushed.said });
  }
  const [first] = failed;
  if (first) throw notPublished(task, first, failed);
  return current;
}

/** The same for the last approval of a task, by whoever comes later. */
export async function howToPublishTask(hands: Hands, task: string): Promise<string[]> {
  const last = await hands.look((reader) => lastMerge(reader, task));
  return last ? howToPublish(hands, last) : [];
}

/** The approval by which a task was merged, or merged again. */
export const lastMerge = (reader: Reader, task: string): Approval | undefined =>
  reader
    .parts(approval, task)
    .records.map((one) => one.value)
    .findLast((one) => one.status === "merged");

/** How to publish what was merged in this clone alone, where there is somewhere to publish it. */
export async function howToPublish(hands: Hands, { id, repos }: Approval): Promise<string[]> {
  const [sites, remotes] = [await hands.git.sites(), await hands.git.remotes()];
  const [targets, worktrees] = [await hands.git.targets(), await hands.git.worktrees()];
  const home = sites.here().mainRoot;
  const notes: string[] = [];
  for (const repo of repos.filter((one) => !one.pushed)) {
    const site = sites.named(repo.name);
    const branch = branchOfRef(repo.ref);
    const upstream = await remotes.remoteOf(site, branch);
    if (!upstream) continue;
    const [ours, theirs] = [await targets.tip(site, repo.ref), await targets.tip(site, upstream.tracking)];
    if (theirs !== undefined && (await worktrees.contains(site, repo.new, theirs))) continue;
    if (ours === undefined || !(await worktrees.contains(site, repo.new, ours))) continue;
    if (theirs !== undefined && !(await worktrees.contains(site, theirs, ours))) {
      const command = redoCommand(taskOf(id));
      notes.push(
        `${branch} is merged in this clone alone, and the remote moved on. To merge it again: ${command}`,
      );
      continue;
    }
    const place = site.mainRoot ?? site.commonDir;
    const git = place === home ? "git" : `git -C ${quoted(place)}`;
    const ref = upstream.ref === branch ? branch : `${branch}:${upstream.ref}`;
    notes.push(
      `${branch} is merged in this clone alone. To publish it: ${git} push ${upstream.remote} ${ref}`,
    );
  }
  return notes;
}

/**
 * A server that checks what it is sent believes the records that it has, so these go first. A state that was never
 * shared stays where it is.
 */
async function publishRecords(hands: Hands, task: string): Promise<void> {
  const git = await hands.git.stateExchange();
  const remote = await git.sharedWith();
  if (remote === undefined) return;
  hands.say(`Sending the records to ${remote} …`);
  try {
    await exchangeState(hands, git, remote);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(
      error.kind,
      "records_unpublished",
      `${task} is merged here, but its approval could not be sent to ${remote}: ${error.message}`,
      { hint: `Fix that with pawl sync, then: ${redoCommand(task)}`, details: { task } },
    );
  }
}

/** Says that a remote has what was approved for one repository. */
export function notePush(
  reader: Reader,
  at: Situation,
  { task, part, repo }: { task: string; part: string; repo: string },
): Plan<Approval> {
  const stored = reader.part(approval, task, part);
  const repos = stored.value.repos.map((one) => (one.name === repo ? { ...one, pushed: true } : one));
  const { effect, value } = change(approval, stored, { repos }, at, `${repo} published`);
  return { data: value, effects: [effect] };
}

function notPublished(task: string, first: Unpublished, failed: Unpublished[]): Failure {
  const again = redoCommand(task);
  const details = { task, repos: failed };
  const merged = `${task} is merged here, but not published:`;
  switch (first.reason) {
    case "rejected":
      return new Failure("refused", "push_rejected", `${merged} the remote of ${first.repo} moved first.`, {
        hint: again,
        details,
      });
    case "refused":
      return new Failure("refused", "push_refused", `${merged} ${first.repo} refused it. ${first.said}`, {
        hint: `Once that is fixed: ${again}`,
        details,
      });
    default:
      return new Failure("unavailable", "remote_unreachable", `${merged} ${first.repo}: ${first.said}`, {
        hint: `When it is reachable: ${again}`,
        details,
      });
  }
}

/** A merge at the tip that the remote went on without is made again by its task; anything else is a human's to bring together. */
export function wayTogether(
  hands: Hands,
  { name, base_branch, base }: Pick<RepoState, "name" | "base_branch" | "base">,
): Promise<string> {
  return hands.look((reader) => {
    const isAtTip = (id: string) =>
      lastMerge(reader, id)?.repos.some((one) => one.name === name && one.new === base && !one.pushed);
    const task = reader
      .tasks()
      .tasks.filter((one) => MERGED.includes(one.status))
      .find((one) => isAtTip(one.id));
    return task
      ? redoCommand(task.id)
      : `In a terminal: pawl unlock ${base_branch} --for 10m, git pull --no-rebase, pawl unlock ${base_branch} --end`;
  });
}
