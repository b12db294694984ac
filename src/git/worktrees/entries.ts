import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { canonicalPath, occupied, textIfReadable } from "../../files/read.ts";
import type { KnownWorktree } from "../../ports/worktrees.ts";
import { taskOfWorktree } from "../discover.ts";
import { branchOf } from "../refs.ts";
import { gitDirOf, worktreesOf } from "../repository-files.ts";

/** Where worktrees are made and unmade, beside those that are used: whatever lies there is nobody's workplace. */
const UNFINISHED = ".new";
const DISCARDED = ".removing";

export const unfinishedPlace = (path: string) => join(dirname(path), UNFINISHED, basename(path));
/** Where a file waits until it is copied whole. */
export const scratchPlace = (path: string) => join(dirname(path), UNFINISHED, `${basename(path)}.copy`);
export const discardedPlace = (path: string) => join(dirname(path), DISCARDED, basename(path));
export const sideFolders = (path: string) => [UNFINISHED, DISCARDED].map((name) => join(dirname(path), name));

/** The worktrees of a repository, with what we have to know about each. */
export function listWorktrees(commonDir: string, mainRoot: string | undefined): KnownWorktree[] {
  return worktreesOf({ commonDir, mainRoot }).flatMap(({ id, root }) =>
    root === undefined ? [] : [describe(commonDir, id, root)],
  );
}

/** Entries that git began to make and never gave a place: a kill leaves them, and they keep their name taken. */
export function halfMadeEntries(commonDir: string, name: string): string[] {
  const isNamed = (id: string) => id.startsWith(name) && /^\d*$/.test(id.slice(name.length));
  return worktreesOf({ commonDir, mainRoot: undefined })
    .filter(({ gitDir, root }) => gitDir !== commonDir && root === undefined && isNamed(basename(gitDir)))
    .map(({ gitDir }) => gitDir);
}

/** The worktree that this folder says it is, whatever git thinks about where it lies. */
export function worktreeAt(commonDir: string, path: string): KnownWorktree | undefined {
  const own = gitDirOf(path);
  if (own === undefined) return undefined;
  const gitDir = relative(canonicalPath(commonDir), canonicalPath(own)).replaceAll("\\", "/");
  if (!/^worktrees\/[^/]+$/.test(gitDir) || !existsSync(join(commonDir, gitDir))) return undefined;
  return describe(commonDir, gitDir, path);
}

function describe(commonDir: string, gitDir: string, path: string): KnownWorktree {
  const own = join(commonDir, gitDir);
  return {
    path,
    gitDir,
    branch: branchOf(own),
    present: occupied(path),
    lock: gitDir === "." ? undefined : textIfReadable(join(own, "locked"))?.trim(),
    task: taskOfWorktree(own),
  };
}

export const samePath = (one: string, other: string) => canonicalPath(one) === canonicalPath(other);
