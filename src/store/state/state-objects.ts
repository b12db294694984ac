import { closeSync, openSync } from "node:fs";
import { readBlobs } from "../../git/cat-file.ts";
import { expectGit } from "../../git/run-git.ts";
import { gitOf, type StateRepository } from "./state-basics.ts";

/** Files by path, as one commit of the state has them: the id of each one's content. */
export type Listing = Map<string, string>;

/** Sorts paths: a task before its parts, because its folder comes into being with it. */
export function taskFirst(a: string, b: string): number {
  const rank = (path: string) => (path.endsWith("/task.md") ? 0 : 1);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

const UNREADABLE = "The state's history could not be read";

/**
 * Only plain files with plain names: a link, or a name that means something to git or to this machine, is nothing
 * that a record could be, and is not taken from anybody.
 */
export async function listFiles(repo: StateRepository, commit: string): Promise<Listing> {
  const files: Listing = new Map();
  for (const entry of await gitOf(repo).names(UNREADABLE, ["ls-tree", "-r", "-z", "--full-tree", commit])) {
    const [, id, path] = /^100(?:644|755) blob ([0-9a-f]+)\t([\s\S]+)$/.exec(entry) ?? [];
    if (id && path && !/(?:^|\/)\.|\\/.test(path)) files.set(path, id);
  }
  return files;
}

/** The contents of many files at once. */
export const readContents = (repo: StateRepository, ids: readonly string[]) =>
  readBlobs(gitOf(repo), UNREADABLE, ids);

/** Writes a file's content where it can be moved from, without holding it. */
export function writeContent(repo: StateRepository, id: string, file: string): void {
  const fd = openSync(file, "wx");
  try {
    expectGit(gitOf(repo).askSync(["cat-file", "blob", id], "", fd), UNREADABLE);
  } finally {
    closeSync(fd);
  }
}

export const isAncestor = (repo: StateRepository, ancestor: string, descendant: string) =>
  gitOf(repo).isAncestor(ancestor, descendant);

/** The last states that both sides had; more than one when they were joined crosswise, none when they never met. */
export async function mergeBases(repo: StateRepository, ours: string, theirs: string): Promise<string[]> {
  const { out } = await gitOf(repo).ask(["merge-base", "--all", ours, theirs]);
  return out.split("\n").filter(Boolean);
}
