import type { Environment } from "../model/environment.ts";
import { isSurelyClean } from "./quick-clean.ts";
import { headOf } from "./refs.ts";
import { commonDirOf, gitDirOf } from "./repository-files.ts";

const DIFF = ["diff", "--name-only", "--no-renames", "-z"];

/**
 * The files of a worktree that differ from where its branch left its base: committed, staged, changed and new ones. Git
 * is started only where there may be any, because it costs as much as half of the command that asks.
 */
export async function changedSince(
  root: string,
  base: { branch: string; head: string },
  env: Environment,
): Promise<string[]> {
  const gitDir = gitDirOf(root);
  if (gitDir === undefined) return [];
  const head = headOf({ gitDir, commonDir: commonDirOf(gitDir) })?.commit;
  if (head === base.head && (await isSurelyClean(root, gitDir, { commit: head }, { untracked: true })))
    return [];
  const { Git } = await import("./run-git.ts");
  const git = Git.in("brief", env, root);
  const lists = await Promise.all([
    git.ask([...DIFF, "--merge-base", `refs/heads/${base.branch}`]),
    git.ask(["ls-files", "-z", "--others", "--exclude-standard"]),
  ]);
  return [...new Set(lists.flatMap(({ out }) => out.split("\0")))].filter(Boolean).sort();
}
