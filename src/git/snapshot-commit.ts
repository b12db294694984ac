import { existsSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { snapshotRef } from "../model/naming.ts";
import type { RunRepo } from "../model/records/run.ts";
import { step } from "../model/steps.ts";
import type { Site } from "../ports/sites.ts";
import { discover, type Place } from "./discover.ts";
import { NOTHING } from "./object-ids.ts";
import { lockOf } from "./refs.ts";
import { askGit, expectGit, type GitAnswer } from "./run-git.ts";
import { hashWorkingTree } from "./working-tree.ts";

type Ask = (args: string[], stdin?: string, extra?: Record<string, string>) => Promise<GitAnswer>;

export interface WorkCommit {
  commit: string;
  head: string;
  tree: string;
  whole: boolean;
}

/** Where the work lies, or what is left of it. */
export interface Source {
  /** Undefined when the worktree is gone, and only the branch can be saved. */
  place: Place | undefined;
  tip: string | undefined;
  head: string;
}

export function askIn(site: Pick<Site, "commonDir">, env: Environment): Ask {
  // The plain objects of this repository: what somebody replaced for their own eyes is not what was worked on.
  const own = { GIT_DIR: site.commonDir, GIT_NO_REPLACE_OBJECTS: "1" };
  return (args, stdin, extra) =>
    askGit(["-c", "core.hooksPath=/dev/null", ...args], {
      cwd: site.commonDir,
      env,
      extra: { ...own, ...extra },
      ...(stdin === undefined ? {} : { stdin }),
    });
}

export async function resolve(ask: Ask, name: string): Promise<string | undefined> {
  const { code, out } = await ask(["rev-parse", "-q", "--verify", "--end-of-options", name]);
  return code === 0 ? out.trim() : undefined;
}

/** Keeps nobody's worktree for the task's: what is checked out there has to be the task's branch, or no branch at all. */
export async function findSource(
  site: Site,
  repo: RunRepo,
  worktree: string,
  env: Environment,
): Promise<Source> {
  const ask = askIn(site, env);
  const tip = await resolve(ask, `refs/heads/${repo.branch}^{commit}`);
  const place = placeAt(site, repo, worktree) ?? (await movedPlace(ask, repo));
  if (!place) {
    if (tip) return { place: undefined, tip, head: tip };
    throw new Failure(
      "refused",
      "branch_missing",
      `Nothing of ${repo.name} is left to save: neither its worktree ${repo.worktree} nor the branch ${repo.branch} is here.`,
      {
        hint: `Bring the branch back (git reflog, or another clone), then run this again.`,
        details: { repo: repo.name, branch: repo.branch, worktree: repo.worktree },
      },
    );
  }
  const at = (args: string[]) => ask(args, undefined, { GIT_DIR: place.gitDir });
  const branch = (await at(["symbolic-ref", "-q", "HEAD"])).out.trim();
  if (branch !== "" && branch !== `refs/heads/${repo.branch}`)
    throw new Failure(
      "refused",
      "other_branch",
      `The worktree ${repo.worktree} of ${repo.name} has ${branch.replace(/^refs\/heads\//, "")} checked out, not ${repo.branch}.`,
      {
        hint: `Go back to the task's branch there: git switch ${repo.branch}`,
        details: { repo: repo.name, branch: repo.branch, worktree: repo.worktree, found: branch },
      },
    );
  const head = (await at(["rev-parse", "-q", "--verify", "HEAD^{commit}"])).out.trim();
  return { place, tip, head: head || tip || repo.base_head };
}

function placeAt(site: Site, repo: RunRepo, worktree: string): Place | undefined {
  const stat = statSync(worktree, { throwIfNoEntry: false });
  if (!stat || (stat.isDirectory() && readdirSync(worktree).length === 0)) return undefined;
  const place = stat.isDirectory() ? discover(worktree) : undefined;
  if (place?.root === realpathSync(worktree) && place.commonDir === realpathSync(site.commonDir))
    return place;
  throw new Failure(
    "refused",
    "worktree_broken",
    `${repo.worktree} is there, but git does not know it as a worktree of ${repo.name}.`,
    {
      hint: "Try `git worktree repair` with its path, or move the folder away if nothing in it is needed.",
      details: { repo: repo.name, worktree: repo.worktree },
    },
  );
}

/** A worktree that was moved with git is still the one that has the branch checked out. */
async function movedPlace(ask: Ask, repo: RunRepo): Promise<Place | undefined> {
  const { out } = await ask(["worktree", "list", "--porcelain", "-z"]);
  for (const entry of out.split("\0\0")) {
    const lines = entry.split("\0");
    const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    if (path && lines.includes(`branch refs/heads/${repo.branch}`) && existsSync(join(path, ".git")))
      return discover(path);
  }
  return undefined;
}

/**
 * A commit of everything that is there, held by a ref of its own. Its parents are what is checked out, the branch's
 * tip, and the snapshot before it, as far as they do not contain each other: no earlier state is ever lost.
 */
export async function commitWork(
  site: Site,
  repo: RunRepo,
  source: Source,
  run: string,
  env: Environment,
): Promise<WorkCommit> {
  const ask = askIn(site, env);
  const { place, head, tip } = source;
  step("snapshot tree");
  const headTree = expectGit(await ask(["rev-parse", `${head}^{tree}`]), "The commit could not be read");
  const { tree, whole, staged } = place
    ? await hashWorkingTree(place, env, { keep: true, staged: true })
    : { tree: headTree, whole: true, staged: undefined };
  // What is staged and lies in no file any more is kept as a commit beside.
  const index =
    staged === undefined || staged === headTree || staged === tree
      ? undefined
      : await commitTree(ask, staged, [head], `Staged in ${repo.name} for ${run}`);
  const ref = snapshotRef(run);
  for (const started = Date.now(); ; await pause()) {
    const previous = await resolve(ask, ref);
    const kept = await notContained(ask, head, [tip, index, previous]);
    const commit =
      (await sameAgain(ask, previous, { head, tree, others: [tip, index] })) ??
      (tree === headTree && kept.length === 0
        ? head
        : await commitTree(ask, tree, [head, ...kept], `Snapshot of ${run} in ${repo.name}`));
    const links = whole ? await nestedRepositories(ask, headTree, tree) : false;
    const saved = { commit, head, tree, whole: whole && !links };
    if (commit === previous) return saved;
    step("snapshot ref");
    const moved = await ask(["update-ref", "-m", "pawl: snapshot", ref, commit, previous ?? NOTHING]);
    if (moved.code === 0) return saved;
    if (Date.now() - started > PATIENCE_MS) expectGit(moved, `The snapshot's ref ${ref} could not be moved`);
    dropStaleLock(lockOf(site.commonDir, ref));
  }
}

const PATIENCE_MS = 5_000;
const LOCK_IS_STALE_MS = 2_000;
const pause = () => new Promise((resume) => setTimeout(resume, 10 + Math.random() * 40));

/** The ref is ours alone, and git holds its lock for milliseconds: an old one was left by a git that was killed. */
function dropStaleLock(path: string): void {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (touched !== undefined && Date.now() - touched > LOCK_IS_STALE_MS) rmSync(path, { force: true });
}

async function isAncestor(ask: Ask, ancestor: string, descendant: string): Promise<boolean> {
  return (await ask(["merge-base", "--is-ancestor", ancestor, descendant])).code === 0;
}

async function notContained(ask: Ask, head: string, others: (string | undefined)[]): Promise<string[]> {
  const kept: string[] = [];
  for (const other of others) {
    if (other === undefined) continue;
    const known = await Promise.all([head, ...kept].map((one) => isAncestor(ask, other, one)));
    if (!known.includes(true)) kept.push(other);
  }
  return kept;
}

/** The previous snapshot, when nothing has changed since. */
async function sameAgain(
  ask: Ask,
  previous: string | undefined,
  now: { head: string; tree: string; others: (string | undefined)[] },
): Promise<string | undefined> {
  if (previous === undefined) return undefined;
  const [tree, first] = [await resolve(ask, `${previous}^{tree}`), await resolve(ask, `${previous}^1`)];
  if (tree !== now.tree || (first !== now.head && previous !== now.head)) return undefined;
  for (const other of now.others)
    if (other !== undefined && !(await isAncestor(ask, other, previous))) return undefined;
  return previous;
}

/** Who and when follow from the work itself, so that the same work always is the same commit. */
async function commitTree(ask: Ask, tree: string, parents: string[], message: string): Promise<string> {
  const [head = ""] = parents;
  const text = expectGit(await ask(["cat-file", "commit", head]), "The commit could not be read");
  const date = /^committer .*> (\d+ [+-]\d{4})$/m.exec(text)?.[1] ?? "0 +0000";
  step("snapshot commit");
  const args = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", tree];
  const made = await ask([...args, ...parents.flatMap((parent) => ["-p", parent])], message, {
    GIT_AUTHOR_NAME: "pawl",
    GIT_AUTHOR_EMAIL: "pawl@localhost",
    GIT_COMMITTER_NAME: "pawl",
    GIT_COMMITTER_EMAIL: "pawl@localhost",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  });
  return expectGit(made, "The snapshot could not be committed");
}

/** A repository inside the worktree is saved as the name of its commit only; its files stay where they are. */
async function nestedRepositories(ask: Ask, from: string, to: string): Promise<boolean> {
  if (from === to) return false;
  const { out } = await ask(["diff-tree", "-r", "-z", "--no-renames", from, to]);
  return out.split("\0").some((entry) => /^:\d+ 160000 /.test(entry));
}
