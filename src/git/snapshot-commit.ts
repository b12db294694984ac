import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../files/pause.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { branchOfRef, refOfBranch, snapshotRef } from "../model/naming.ts";
import type { RunRepo } from "../model/records/run.ts";
import { step } from "../model/steps.ts";
import type { Site } from "../ports/sites.ts";
import { discover, type Place } from "./discover.ts";
import { nothingLike } from "./object-ids.ts";
import { PAWL } from "./policies.ts";
import { dropStaleLock } from "./ref-locks.ts";
import { branchOf, lockOf } from "./refs.ts";
import { worktreesOf } from "./repository-files.ts";
import { expectGit, Git } from "./run-git.ts";
import { hashWorkingTree } from "./working-tree.ts";

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

/** Keeps nobody's worktree for the task's: what is checked out there has to be the task's branch, or no branch at all. */
export async function findSource(
  site: Site,
  repo: RunRepo,
  worktree: string,
  env: Environment,
): Promise<Source> {
  const git = Git.of("quiet", env, site.commonDir);
  const tip = await git.commitOf(refOfBranch(repo.branch));
  const place = placeAt(site, repo, worktree) ?? movedPlace(site, repo);
  if (!place) {
    if (tip) return { place: undefined, tip, head: tip };
    throw new Failure(
      "refused",
      "branch_missing",
      `There is nothing left of ${repo.name} to save: its worktree ${repo.worktree} and the branch ${repo.branch} are both gone.`,
      {
        hint: `Bring the branch back (git reflog, or another clone), then run this again.`,
        details: { repo: repo.name, branch: repo.branch, worktree: repo.worktree },
      },
    );
  }
  const own = Git.of("quiet", env, place.gitDir);
  const branch = await own.line(["symbolic-ref", "-q", "HEAD"]);
  if (branch !== undefined && branch !== refOfBranch(repo.branch))
    throw new Failure(
      "refused",
      "other_branch",
      `The worktree ${repo.worktree} of ${repo.name} has ${branchOfRef(branch)} checked out, not ${repo.branch}.`,
      {
        hint: `Go back to the task's branch there: git switch ${repo.branch}`,
        details: { repo: repo.name, branch: repo.branch, worktree: repo.worktree, found: branch },
      },
    );
  return { place, tip, head: (await own.commitOf("HEAD")) ?? tip ?? repo.base_head };
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
    `${repo.worktree} exists, but git does not know it as a worktree of ${repo.name}.`,
    {
      hint: "Try `git worktree repair` with its path, or move the folder away if nothing in it is needed.",
      details: { repo: repo.name, worktree: repo.worktree },
    },
  );
}

/** A worktree that was moved with git is still the one that has the branch checked out. */
function movedPlace(site: Site, repo: RunRepo): Place | undefined {
  const found = worktreesOf(site).find(
    ({ root, gitDir }) => root && branchOf(gitDir) === repo.branch && existsSync(join(root, ".git")),
  );
  return found?.root === undefined ? undefined : discover(found.root);
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
  const git = Git.of("quiet", env, site.commonDir);
  const { place, head, tip } = source;
  step("snapshot tree");
  const headTree = await git.expect("The commit could not be read", ["rev-parse", `${head}^{tree}`]);
  const { tree, whole, staged } = place
    ? await hashWorkingTree(place, env, { keep: true, staged: true })
    : { tree: headTree, whole: true, staged: undefined };
  // What is staged and lies in no file any more is kept as a commit beside.
  const index =
    staged === undefined || staged === headTree || staged === tree
      ? undefined
      : await commitTree(git, staged, [head], `Staged in ${repo.name} for ${run}`);
  const ref = snapshotRef(run);
  for (const started = Date.now(); ; await pause(10 + Math.random() * 40)) {
    const previous = await git.commitOf(ref);
    const kept = await notContained(git, head, [tip, index, previous]);
    const commit =
      (await sameAgain(git, previous, { head, tree, others: [tip, index] })) ??
      (tree === headTree && kept.length === 0
        ? head
        : await commitTree(git, tree, [head, ...kept], `Snapshot of ${run} in ${repo.name}`));
    const links = whole ? await nestedRepositories(git, headTree, tree) : false;
    const saved = { commit, head, tree, whole: whole && !links };
    if (commit === previous) return saved;
    step("snapshot ref");
    const moved = await git.ask([
      "update-ref",
      "-m",
      "pawl: snapshot",
      ref,
      commit,
      previous ?? nothingLike(commit),
    ]);
    if (moved.code === 0) return saved;
    if (Date.now() - started > PATIENCE_MS) expectGit(moved, `The snapshot's ref ${ref} could not be moved`);
    dropStaleLock(lockOf(site.commonDir, ref));
  }
}

const PATIENCE_MS = 5_000;

async function notContained(git: Git, head: string, others: (string | undefined)[]): Promise<string[]> {
  const kept: string[] = [];
  for (const other of others) {
    if (other === undefined) continue;
    const known = await Promise.all([head, ...kept].map((one) => git.isAncestor(other, one)));
    if (!known.includes(true)) kept.push(other);
  }
  return kept;
}

/** The previous snapshot, when nothing has changed since. */
async function sameAgain(
  git: Git,
  previous: string | undefined,
  now: { head: string; tree: string; others: (string | undefined)[] },
): Promise<string | undefined> {
  if (previous === undefined) return undefined;
  const tree = await git.line(["rev-parse", "-q", "--verify", `${previous}^{tree}`]);
  const first = await git.commitOf(`${previous}^1`);
  if (tree !== now.tree || (first !== now.head && previous !== now.head)) return undefined;
  for (const other of now.others)
    if (other !== undefined && !(await git.isAncestor(other, previous))) return undefined;
  return previous;
}

/** Who and when follow from the work itself, so that the same work always is the same commit. */
export async function commitTree(
  git: Git,
  tree: string,
  parents: string[],
  message: string,
): Promise<string> {
  const [head = ""] = parents;
  const text = await git.expect("The commit could not be read", ["cat-file", "commit", head]);
  const date = /^committer .*> (\d+ [+-]\d{4})$/m.exec(text)?.[1] ?? "0 +0000";
  step("snapshot commit");
  const ours = git.with({ ...PAWL, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
  const args = ["commit-tree", "--no-gpg-sign", tree, ...parents.flatMap((parent) => ["-p", parent])];
  return ours.expect("The snapshot could not be committed", args, message);
}

/** A repository inside the worktree is saved as the name of its commit only; its files stay where they are. */
async function nestedRepositories(git: Git, from: string, to: string): Promise<boolean> {
  if (from === to) return false;
  const { out } = await git.ask(["diff-tree", "-r", "-z", "--no-renames", from, to]);
  return out.split("\0").some((entry) => /^:\d+ 160000 /.test(entry));
}
