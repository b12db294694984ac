import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../files/durable.ts";
import { nothingLike } from "../../git/object-ids.ts";
import { Git } from "../../git/run-git.ts";
import { step } from "../../model/steps.ts";
import { NEWEST } from "./is-complete.ts";
import { gitOf, REF, type StateRepository } from "./state-basics.ts";

/** Writes a whole commit of the state into a folder of its own; a link comes out as a plain file. */
export async function checkOut(repo: StateRepository, commit: string, folder: string): Promise<void> {
  makeFolder(folder);
  const index = join(repo.gitDir, `pawl-index-${process.pid}-${Date.now()}`);
  step("sync check out");
  try {
    const git = Git.on("records", repo.env, { root: folder, gitDir: repo.gitDir }).withIndex(index);
    const args = ["-c", "core.symlinks=false", "read-tree", "-u", "--reset", commit];
    await git.expect("The state could not be checked out", args);
  } finally {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true });
  }
}

/** Begins our history with theirs, if we have none. Whoever began one meanwhile is joined to theirs later. */
export function beginWith(repo: StateRepository, commit: string): void {
  const git = gitOf(repo);
  const { code } = git.askSync(["update-ref", "-m", "pawl", REF, commit, nothingLike(commit)]);
  if (code === 0) git.askSync(["update-ref", NEWEST, commit, nothingLike(commit)]);
}
