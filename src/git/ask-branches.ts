import type { Environment } from "../model/environment.ts";
import type { BranchFacts } from "./branch-facts.ts";
import { askGit, expectGit } from "./run-git.ts";

/** What differs from the commit that is checked out, and new files if asked for. */
export async function askStatus(worktree: string, untracked: boolean, env: Environment): Promise<string[]> {
  // A checkout of the base may lag behind in its submodules; a merge leaves those alone, so they are not in its way.
  const what = untracked ? ["--untracked-files=normal"] : ["--untracked-files=no", "--ignore-submodules=all"];
  const said = await askGit(["status", "--porcelain", "-z", "--no-renames", ...what], { cwd: worktree, env });
  return expectGit(said, `git status failed in ${worktree}`)
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}

export async function askFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<BranchFacts> {
  const ask = (...args: string[]) => askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  const must = async (...args: string[]) =>
    expectGit(await ask(...args), "The task's branch could not be compared with its base");
  const [tree, baseTree, split, policy, surfaces] = await Promise.all([
    must("rev-parse", "--verify", `${head}^{tree}`),
    must("rev-parse", "--verify", `${base}^{tree}`),
    ask("merge-base", base, head),
    textAt(commonDir, base, ".pawl/config.yaml", env),
    ask("cat-file", "-e", `${base}:.pawl/lock.json`),
  ]);
  // Without a common commit everything differs, and nothing can be merged.
  const from = split.code === 0 ? split.out.trim() : undefined;
  const contained = from === base;
  return {
    tree,
    baseTree,
    contained,
    changed: from === undefined || (await must("rev-parse", "--verify", `${from}^{tree}`)) !== tree,
    conflicts: contained
      ? []
      : from === undefined
        ? ["everything"]
        : await conflictsOf(commonDir, head, base, env),
    policy,
    surfaces: surfaces.code === 0,
  };
}

/** The text of a file on a commit; undefined only when git says that it is not there. */
async function textAt(
  commonDir: string,
  commit: string,
  path: string,
  env: Environment,
): Promise<string | undefined> {
  const ask = (...args: string[]) => askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  const listed = expectGit(await ask("ls-tree", commit, "--", path), "The base's policy could not be read");
  if (listed === "") return undefined;
  return expectGit(await ask("cat-file", "blob", `${commit}:${path}`), "The base's policy could not be read");
}

async function conflictsOf(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<string[]> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head];
  const merged = await askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  if (merged.code === 0) return [];
  const [, ...files] = merged.out.split("\0").filter(Boolean);
  if (merged.code === 1) return [...new Set(files)];
  expectGit(merged, "The task's branch could not be merged for a try");
  return [];
}

/** A commit that this repository does not have is part of nothing here. */
export async function askContains(
  commonDir: string,
  commit: string,
  tip: string,
  env: Environment,
): Promise<boolean> {
  const asked = await askGit(["--git-dir", commonDir, "merge-base", "--is-ancestor", commit, tip], {
    cwd: commonDir,
    env,
  });
  return asked.code === 0;
}

export async function askChanges(
  commonDir: string,
  repo: { branch: string; base_branch: string },
  env: Environment,
): Promise<string[]> {
  const range = `refs/heads/${repo.base_branch}...refs/heads/${repo.branch}`;
  const names = [
    "diff",
    "--name-only",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--ignore-submodules=none",
    range,
    "--",
  ];
  const said = await askGit(["--git-dir", commonDir, ...names], { cwd: commonDir, env });
  return expectGit(said, "What the branch changed could not be read").split("\0").filter(Boolean);
}
