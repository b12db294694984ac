import { existsSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { textIfPresent } from "../files/read.ts";
import { makeScratch } from "../files/scratch-folder.ts";
import type { Environment } from "../model/environment.ts";
import { copyIndex } from "./copy-index.ts";
import type { Place } from "./discover.ts";
import { Git } from "./run-git.ts";

export interface WorkingTree {
  tree: string;
  /** The tree of what is staged, where that was asked for and there is one: what a conflict left has none. */
  staged: string | undefined;
  /** False when something that a check can see is not in the tree: changes inside submodules or nested repositories. */
  whole: boolean;
}

/**
 * The tree of what is really there, uncommitted and untracked files included. It is built in a copy of the index
 * and a throw-away object store, so that the user's repository does not change by a byte; only a tree that is to be
 * kept is written to the repository's own objects.
 */
export async function hashWorkingTree(
  place: Place,
  env: Environment,
  options: { keep?: boolean; staged?: boolean; readAll?: boolean } = {},
): Promise<WorkingTree> {
  const root = place.root ?? place.gitDir;
  const scratch = makeScratch("tree", ["objects"]);
  try {
    const git = Git.on("quiet", env, { root, gitDir: place.gitDir })
      .withIndex(privateIndex(place, scratch, options.readAll === true))
      .with(options.keep ? {} : throwAwayObjects(place, scratch));
    const staged = options.staged ? await git.line(["write-tree"]) : undefined;
    const isHidden = (await showHiddenFiles(root, git)) || hasOwnFilters(place);
    const added = await git.ask(["add", "-A", "--ignore-errors", "--", "."]);
    const tree = await git.expect("The working tree could not be hashed", ["write-tree"]);
    return { tree, staged, whole: added.code === 0 && !isHidden && !(await hasDirtySubmodule(git)) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * A filter that only this clone knows can make git see other content than the files have, and so can whoever sets one
 * up for the moment of a check.
 */
function hasOwnFilters(place: Place): boolean {
  const rules = textIfPresent(join(place.commonDir, "info", "attributes")) ?? "";
  return /\bfilter\b|\bworking-tree-encoding\b|\bident\b/.test(rules);
}

function throwAwayObjects(place: Place, scratch: string): Record<string, string> {
  return {
    GIT_OBJECT_DIRECTORY: join(scratch, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(place.commonDir, "objects")),
  };
}

/**
 * An index says which files need not be read again, and anybody can write one that says so of a changed file. Git reads
 * every file that is not older than its index, so an index from long ago has it read all of them.
 */
function privateIndex(place: Place, scratch: string, readAll: boolean): string {
  const [from, to] = [join(place.gitDir, "index"), join(scratch, "index")];
  if (existsSync(from)) copyIndex(from, to);
  if (readAll && existsSync(to)) utimesSync(to, 1, 1);
  return to;
}

/**
 * Files that git was told not to look at (`assume-unchanged`, `skip-worktree`) are looked at here, in the copy; a
 * check sees them too. True when that could not be done.
 */
async function showHiddenFiles(root: string, git: Git): Promise<boolean> {
  const listed = await git.ask(["ls-files", "-v", "-z"]);
  const marked = listed.out.split("\0").filter((entry) => /^[a-zS]/.test(entry));
  const paths = (test: RegExp) => marked.filter((entry) => test.test(entry)).map((entry) => entry.slice(2));
  const present = paths(/^[sS]/).filter((path) => existsSync(join(root, path)));
  const show = (option: string, names: string[]) =>
    git.ask(["update-index", option, "-z", "--stdin"], names.join("\0"));
  const shown = [
    await show("--no-assume-unchanged", paths(/^[a-z]/)),
    await show("--no-skip-worktree", present),
  ];
  return shown.some((answer) => answer.code !== 0);
}

/** A submodule's own uncommitted changes are no part of any tree of ours. */
async function hasDirtySubmodule(git: Git): Promise<boolean> {
  const status = await git.ask(["status", "--porcelain=v2", "-z", "--ignore-submodules=none"]);
  return status.code !== 0 || status.out.split("\0").some((entry) => /^[12u] .. S.(?:M.|.U)/.test(entry));
}
