import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalPath } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import type { Content, KnownWorktree, RemovalLook } from "../../ports/worktrees.ts";
import { discover } from "../discover.ts";
import { headFiles } from "../refs.ts";
import { Git } from "../run-git.ts";
import { operationIn } from "../unfinished-operation.ts";
import { hashWorkingTree } from "../working-tree.ts";
import { ancestors, isInside, processesIn } from "./processes.ts";

const RUNNING = "a git command that is running or was killed";

export async function beforeRemoval(
  { commonDir, mainRoot }: Site,
  worktree: KnownWorktree,
  { cwd, env, leaving }: { cwd: string; env: Environment; leaving: boolean },
): Promise<RemovalLook> {
  // A process whose folder is gone cannot start any other.
  if (leaving) process.chdir(mainRoot ?? commonDir);
  const own = join(commonDir, worktree.gitDir);
  const path = canonicalPath(worktree.path);
  const list = (args: string[]) => Git.in("user", env, path).names(`${path} cannot be read`, args);
  const links = (await list(["ls-files", "-z", "--stage"])).filter((entry) => entry.startsWith("160000 "));
  const ignored = await list(["ls-files", "-z", "--others", "--ignored", "--exclude-standard"]);
  // git names a repository inside an ignored folder, and does not look into it.
  const nested = ignored.filter((name) => name.endsWith("/"));
  return {
    standing: !leaving && isInside(canonicalPath(cwd), path),
    operation: operationIn(own)?.what ?? (existsSync(join(own, "index.lock")) ? RUNNING : undefined),
    processes: processesIn(path, leaving ? ancestors() : []),
    submodules: links
      .map((entry) => entry.slice(entry.indexOf("\t") + 1))
      .filter((name) => existsSync(join(path, name, ".git"))),
    nested,
    ignored: ignored.length,
  };
}

export async function contentOf(path: string, env: Environment): Promise<Content> {
  const place = discover(path);
  if (!place) throw new Error(`${path} is no worktree`);
  const git = Git.in("user", env, path);
  const line = (name: string) =>
    git.expect(`${path} has no commit`, ["rev-parse", "--verify", "--end-of-options", name]);
  const [head, committed] = [await line("HEAD^{commit}"), await line("HEAD^{tree}")];
  const { tree, staged, whole } = await hashWorkingTree(place, env, { staged: true });
  // What is staged and neither committed nor in the files is somewhere else nowhere.
  const isStaged = staged !== undefined && staged !== committed && staged !== tree;
  return { tree, whole, head, committed: whole && tree === committed && !isStaged, staged: isStaged };
}

/** The files that change with whatever somebody does with git there. */
export function lastSign(commonDir: string, worktree: KnownWorktree): string | undefined {
  const gitDir = join(commonDir, worktree.gitDir);
  const times = [join(gitDir, "index"), ...headFiles(gitDir)].flatMap((file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat ? [stat.mtimeMs] : [];
  });
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString();
}
