import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { lineIfReadable, namesIfReadable, textIfReadable } from "../../files/read.ts";
import type { KnownWorktree } from "../../ports/worktrees.ts";
import { BINDING } from "../discover.ts";

/** Where worktrees are made and unmade, beside those that are used: whatever lies there is nobody's workplace. */
const UNFINISHED = ".new";
const DISCARDED = ".removing";

export const unfinishedPlace = (path: string) => join(dirname(path), UNFINISHED, basename(path));
/** Where a file waits until it is copied whole. */
export const scratchPlace = (path: string) => join(dirname(path), UNFINISHED, `${basename(path)}.copy`);
export const discardedPlace = (path: string) => join(dirname(path), DISCARDED, basename(path));
export const sideFolders = (path: string) => [UNFINISHED, DISCARDED].map((name) => join(dirname(path), name));

/** The worktrees of a repository from git's own files, which tell more than its listing, and cost less. */
export function listWorktrees(commonDir: string, mainRoot: string | undefined): KnownWorktree[] {
  const main = mainRoot === undefined ? [] : [describe(commonDir, ".", mainRoot)];
  return [...main, ...linkedIds(commonDir).flatMap((id) => linked(commonDir, `worktrees/${id}`))];
}

/** Entries that git began to make and never gave a place: a kill leaves them, and they keep their name taken. */
export function halfMadeEntries(commonDir: string, name: string): string[] {
  return linkedIds(commonDir)
    .filter((id) => id.startsWith(name) && /^\d*$/.test(id.slice(name.length)))
    .map((id) => join(commonDir, "worktrees", id))
    .filter((gitDir) => !lineIfReadable(join(gitDir, "gitdir")));
}

/** The worktree that this folder says it is, whatever git thinks about where it lies. */
export function worktreeAt(commonDir: string, path: string): KnownWorktree | undefined {
  const target = /^gitdir: (.*)$/m.exec(lineIfReadable(join(path, ".git")) ?? "")?.[1];
  if (target === undefined) return undefined;
  const gitDir = relative(canonical(commonDir), canonical(resolve(path, target))).replaceAll("\\", "/");
  if (!/^worktrees\/[^/]+$/.test(gitDir) || !existsSync(join(commonDir, gitDir))) return undefined;
  return describe(commonDir, gitDir, path);
}

const linkedIds = (commonDir: string) => namesIfReadable(join(commonDir, "worktrees")).sort();

function linked(commonDir: string, gitDir: string): KnownWorktree[] {
  const link = lineIfReadable(join(commonDir, gitDir, "gitdir"));
  return link ? [describe(commonDir, gitDir, dirname(resolve(commonDir, gitDir, link)))] : [];
}

function describe(commonDir: string, gitDir: string, path: string): KnownWorktree {
  const own = join(commonDir, gitDir);
  return {
    path,
    gitDir,
    branch: /^ref: refs\/heads\/(.+)$/.exec(lineIfReadable(join(own, "HEAD")) ?? "")?.[1],
    present: occupied(path),
    lock: gitDir === "." ? undefined : textIfReadable(join(own, "locked"))?.trim(),
    task: lineIfReadable(join(own, BINDING)),
  };
}

/** Something is there, be it a link that leads nowhere. */
export function occupied(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Git writes paths without symbolic links; the last parts may not exist yet. */
export function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonical(parent), basename(path));
  }
}

export const samePath = (one: string, other: string) => canonical(one) === canonical(other);
