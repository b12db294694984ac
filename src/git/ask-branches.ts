import type { BranchFacts } from "./branch-facts.ts";
import { askGit, expectGit } from "./run-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What differs from the commit that is checked out, and new files if asked for. */
export async function askStatus(worktree: string, untracked: boolean, env: Environment): Promise<string[]> {
  const files = `--untracked-files=${untracked ? "normal" : "no"}`;
  const said = await askGit(["status", "--porcelain", "-z", "--no-renames", files], { cwd: worktree, env });
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
