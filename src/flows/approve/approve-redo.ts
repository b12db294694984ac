import { Failure } from "../../model/failure.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { branchOfRef } from "../../model/naming.ts";
import type { Approval } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Upstream } from "../../ports/remotes.ts";
import type { Site } from "../../ports/sites.ts";
import { requiredCommands } from "../check/required-commands.ts";
import { fetchBases, refusalOf } from "./approve-candidate.ts";
import type { WantedMerge } from "./approve-merge.ts";
import { lastMerge } from "./approve-push.ts";
import { repoOfRun, tryChecks } from "./approve-recheck.ts";
import type { ApprovalRepo } from "./approve-records.ts";
import { short } from "./approve-show.ts";

/** A merge that the remote was faster than, to be made again on the remote's tip. */
interface Overtaken extends WantedMerge {
  name: string;
  /** The merge has other content than what was checked, so the checks have to pass again. */
  differs: boolean;
}

export interface Redo {
  task: Task;
  last: Approval;
  overtaken: Overtaken[];
}

/** What has to be made again; nothing, where the remote did not move after all. */
export async function lookForRedo(hands: Hands, id: string, options: { fetch: boolean }): Promise<Redo> {
  const { task, last } = await hands.look((reader) => ({
    task: reader.task(id).value,
    last: lastMerge(reader, id),
  }));
  if (!last || !MERGED.includes(task.status))
    throw new Failure("refused", "not_merged", `${id} is ${task.status}; there is no merge to redo.`, {
      hint: `pawl approve ${id}`,
      details: { task: id, status: task.status },
    });
  const open = await unpublished(hands, last);
  if (options.fetch) await fetchBases(hands, open);
  const overtaken: Overtaken[] = [];
  for (const one of open) {
    const again = await mergeAgain(hands, id, one);
    if (again) overtaken.push(again);
  }
  return { task, last, overtaken };
}

/** Merged by an approval that a remote has not got: a push that was asked for again has only that left to do. */
export async function waitsForPush(hands: Hands, id: string): Promise<boolean> {
  const last = await hands.look((reader) =>
    MERGED.includes(reader.task(id).value.status) ? lastMerge(reader, id) : undefined,
  );
  return last?.repos.some((one) => !one.pushed) ?? false;
}

interface Unpublished {
  name: string;
  site: Site;
  repo: ApprovalRepo;
  branch: string;
  upstream: Upstream;
}

async function unpublished(hands: Hands, last: Approval): Promise<Unpublished[]> {
  const [sites, remotes] = [await hands.git.sites(), await hands.git.remotes()];
  const open: Unpublished[] = [];
  for (const repo of last.repos.filter((one) => !one.pushed)) {
    const site = sites.named(repo.name);
    const branch = branchOfRef(repo.ref);
    const upstream = await remotes.remoteOf(site, branch);
    if (!upstream)
      throw new Failure("refused", "no_remote", `${branch} of ${repo.name} has no remote.`, {
        hint: "Add one with `git remote add origin <url>`.",
        details: { repo: repo.name, branch },
      });
    open.push({ name: repo.name, site, repo, branch, upstream });
  }
  if (open.length > 0) return open;
  throw new Failure("refused", "nothing_to_redo", `${last.id} is published in every repository.`, {
    details: { approval: last.id },
  });
}

async function mergeAgain(hands: Hands, task: string, one: Unpublished): Promise<Overtaken | undefined> {
  const { site, repo, branch, upstream, name } = one;
  const targets = await hands.git.targets();
  const theirs = await targets.tip(site, upstream.tracking);
  if (theirs === undefined || (await targets.contains(site, repo.new, theirs))) return undefined;
  if (await targets.contains(site, theirs, repo.new)) return undefined;
  const tip = await targets.tip(site, repo.ref);
  if (tip !== repo.new)
    throw new Failure(
      "refused",
      "base_has_more",
      `${branch} of ${name} is no longer at the merge of ${task}.`,
      {
        hint: `Only an unpublished merge at the tip can be redone. See: git log ${short(repo.new)}..${branch}`,
        details: { repo: name, branch, merge: repo.new, tip },
      },
    );
  const merged = await (await hands.git.merges()).merge(site, theirs, repo.head);
  if ("conflicts" in merged)
    throw new Failure(
      "refused",
      "unmergeable",
      `${task} does not merge with ${upstream.remote}/${upstream.ref} of ${name}: ${merged.conflicts.join(", ") || merged.said}.`,
      {
        hint: "The remote and this task changed the same lines. Open a new task to resolve that.",
        details: { repo: name, files: merged.conflicts },
      },
    );
  const { tree } = merged;
  const [obstacle] = await targets.obstacles(site, { branch, from: repo.new, to: tree });
  if (obstacle) throw refusalOf(obstacle, name);
  // What was only brought forward cannot be again: the remote went on from the same commit.
  const style = repo.style === "ff" ? "merge" : repo.style;
  const wanted = { site, base_branch: branch, old: repo.new, onto: theirs, head: repo.head, tree, style };
  return { ...wanted, name, differs: tree !== repo.tree };
}

/** The approval was for content that passed its checks; other content has to pass them as well. */
export async function checkAgain(hands: Hands, { task, overtaken, last }: Redo): Promise<string[]> {
  const merges = await hands.git.merges();
  const passed: string[] = [];
  for (const one of overtaken.filter((each) => each.differs)) {
    const repo = await repoOfRun(hands, task.id, one.name);
    const tree = last.repos.find((each) => each.name === one.name)?.tree;
    const wanted = await requiredCommands(hands, task.id, repo, tree);
    const trial = await merges.commit(one.site, {
      tree: one.tree,
      parents: one.style === "squash" ? [one.onto] : [one.onto, one.head],
      message: `Trial merge of ${task.id}\n`,
    });
    hands.say(`Checking the merge of ${one.name} with what the remote has …`);
    const where = { site: one.site, repo, commit: trial, tree: one.tree };
    passed.push(...(await tryChecks(hands, where, wanted, TOGETHER)));
  }
  return passed;
}

const TOGETHER = {
  failed: "Merged with what the remote has,",
  hint: "Nothing was moved. This task does not work with the remote's commits; open a new task for it.",
};
