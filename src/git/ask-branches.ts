import type { Environment } from "../model/environment.ts";
import { refOfBranch } from "../model/naming.ts";
import { LEDGER_FILE, POLICY_FILE } from "../model/paths.ts";
import type { BranchFacts } from "./branch-facts.ts";
import { expectGit, Git } from "./run-git.ts";

/** What differs from the commit that is checked out, and new files if asked for. */
export async function askStatus(worktree: string, untracked: boolean, env: Environment): Promise<string[]> {
  // A checkout of the base may lag behind in its submodules; a merge leaves those alone, so they are not in its way.
  const what = untracked ? ["--untracked-files=normal"] : ["--untracked-files=no", "--ignore-submodules=all"];
  const args = ["status", "--porcelain", "-z", "--no-renames", ...what];
  const entries = await Git.in("user", env, worktree).names(`git status failed in ${worktree}`, args);
  return entries.map((entry) => entry.slice(3));
}

export async function askFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<BranchFacts> {
  const git = Git.of("user", env, commonDir);
  const must = (...args: string[]) =>
    git.expect("The task's branch could not be compared with its base", args);
  // Without a common commit everything differs, and nothing can be merged.
  const [tree, baseTree, from, policy, surfaces] = await Promise.all([
    must("rev-parse", "--verify", `${head}^{tree}`),
    must("rev-parse", "--verify", `${base}^{tree}`),
    git.line(["merge-base", base, head]),
    textAt(git, base, POLICY_FILE),
    git.ask(["cat-file", "-e", `${base}:${LEDGER_FILE}`]),
  ]);
  const contained = from === base;
  return {
    tree,
    baseTree,
    contained,
    changed: from === undefined || (await must("rev-parse", "--verify", `${from}^{tree}`)) !== tree,
    conflicts: contained ? [] : from === undefined ? ["everything"] : await conflictsOf(git, head, base),
    policy,
    surfaces: surfaces.code === 0,
  };
}

/** The text of a file on a commit; undefined only when git says that it is not there. */
async function textAt(git: Git, commit: string, path: string): Promise<string | undefined> {
  const what = "The base's policy could not be read";
  const read = await git.ask(["cat-file", "blob", `${commit}:${path}`]);
  // Most often it is there; that nothing was read may also mean that something is broken.
  if (read.code !== 0 && (await git.expect(what, ["ls-tree", commit, "--", path])) === "") return undefined;
  return expectGit(read, what);
}

export const askText = (commonDir: string, commit: string, path: string, env: Environment) =>
  textAt(Git.of("user", env, commonDir), commit, path);

async function conflictsOf(git: Git, head: string, base: string): Promise<string[]> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head];
  const merged = await git.ask(args);
  if (merged.code === 0) return [];
  const [, ...files] = merged.out.split("\0").filter(Boolean);
  if (merged.code === 1) return [...new Set(files)];
  expectGit(merged, "A trial merge of the task's branch failed");
  return [];
}

/** A commit that this repository does not have is part of nothing here. */
export const askContains = (commonDir: string, commit: string, tip: string, env: Environment) =>
  Git.of("user", env, commonDir).isAncestor(commit, tip);

/** Whether every file that was changed from one commit to another is at the tip as it was before. */
export async function askUndone(
  commonDir: string,
  { from, to, tip }: { from: string; to: string; tip: string },
  env: Environment,
): Promise<boolean> {
  const git = Git.of("user", env, commonDir);
  const namesFrom = async (other: string) => {
    const options = ["--no-renames", "--no-ext-diff", "--ignore-submodules=none"];
    const changed = await git.ask(["diff", "--name-only", "-z", ...options, from, other, "--"]);
    return changed.code === 0 ? changed.out.split("\0").filter(Boolean) : undefined;
  };
  const fixed = await namesFrom(to);
  const left = fixed && fixed.length > 0 ? await namesFrom(tip) : undefined;
  if (!fixed || !left) return false;
  const changed = new Set(left);
  return !fixed.some((path) => changed.has(path));
}

export async function askChanges(
  commonDir: string,
  repo: { branch: string; base_branch: string },
  env: Environment,
): Promise<string[]> {
  const range = `${refOfBranch(repo.base_branch)}...${refOfBranch(repo.branch)}`;
  const options = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none"];
  const args = ["diff", ...options, range, "--"];
  return Git.of("user", env, commonDir).names("What the branch changed could not be read", args);
}
