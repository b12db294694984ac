import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../core/failure.ts";
import type { Branches, BranchState } from "../core/git/branches.ts";
import type { Site, Sites } from "../core/git/sites.ts";
import type { RunRepo } from "../core/records/run.ts";
import { branchFacts } from "./branch-facts.ts";
import { discover, readLine } from "./discover.ts";
import { targetOf, tipOf } from "./refs.ts";
import { askGit, expectGit } from "./run-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function openBranches(sites: Sites, env: Environment): Branches {
  return {
    look: (repo) => look(sites, repo, env),
    tip(repo) {
      const site = sites.all().find((one) => one.name === repo.name);
      return site && tipOf(site.commonDir, `refs/heads/${repo.branch}`, env);
    },
  };
}

async function look(sites: Sites, repo: RunRepo, env: Environment): Promise<BranchState> {
  const site = sites.named(repo.name);
  const path = sites.locate(site, repo.worktree);
  const [head, base] = [repo.branch, repo.base_branch].map((name) =>
    tipOf(site.commonDir, `refs/heads/${name}`, env),
  );
  // What takes longest begins first; the rest is read while git works.
  const working = existsSync(join(path, ".git")) ? changedIn(path, repo, env) : undefined;
  const targets = checkoutsOf(site, `refs/heads/${repo.base_branch}`).map(async (worktree) => ({
    worktree,
    files: await statusOf(worktree, "no", env),
  }));
  const facts = head && base ? await branchFacts(site.commonDir, head, base, env) : undefined;
  const [dirty, ...targetDirty] = await Promise.all([working, ...targets]);
  return {
    path,
    head,
    base,
    tree: facts?.tree,
    contained: facts?.contained ?? false,
    changed: facts?.changed ?? false,
    conflicts: facts?.conflicts ?? [],
    dirty,
    targetDirty: targetDirty.filter((one) => one.files.length > 0),
    policy: {
      base: facts?.policy,
      worktree: textOf(join(path, ".pawl", "config.yaml")),
      main: site.mainRoot && textOf(join(site.mainRoot, ".pawl", "config.yaml")),
    },
    surfacesMissing:
      facts !== undefined &&
      !facts.surfaces &&
      site.mainRoot !== undefined &&
      existsSync(join(site.mainRoot, ".pawl", "lock.json")),
    defaultBranch: targetOf(site.commonDir, "refs/remotes/origin/HEAD")?.replace(
      /^refs\/remotes\/origin\//,
      "",
    ),
  };
}

/** The worktree's own changes; one that has another branch checked out is as good as changed. */
async function changedIn(path: string, repo: RunRepo, env: Environment): Promise<string[]> {
  const files = await statusOf(path, "normal", env);
  const on = targetOf(discover(path)?.gitDir ?? "", "HEAD");
  return on === `refs/heads/${repo.branch}` ? files : [`HEAD (not on ${repo.branch})`, ...files];
}

async function statusOf(worktree: string, untracked: "no" | "normal", env: Environment): Promise<string[]> {
  const args = ["status", "--porcelain", "-z", "--no-renames", `--untracked-files=${untracked}`];
  const said = await askGit(args, { cwd: worktree, env });
  return expectGit(said, `git status failed in ${worktree}`)
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}

/** Every worktree that has this branch checked out, read from git's files. */
function checkoutsOf(site: Site, ref: string): string[] {
  const found: string[] = [];
  if (site.mainRoot && targetOf(site.commonDir, "HEAD") === ref) found.push(site.mainRoot);
  const linked = join(site.commonDir, "worktrees");
  for (const name of existsSync(linked) ? readdirSync(linked) : []) {
    if (targetOf(join(linked, name), "HEAD") !== ref) continue;
    const dotGit = readLine(join(linked, name, "gitdir"));
    if (dotGit && existsSync(dotGit)) found.push(dirname(dotGit));
  }
  return found;
}

/** Absent is a fact; unreadable is none, and nothing may pass because of it. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Failure("unreadable", "unreadable_file", `${path} cannot be read (${code}).`, {
      details: { file: path },
      cause: error,
    });
  }
}
