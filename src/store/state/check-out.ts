import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../files/durable.ts";
import { NOTHING } from "../../git/object-ids.ts";
import { askGit, askGitSync, expectGit } from "../../git/run-git.ts";
import { step } from "../../model/steps.ts";
import { REF, type StateRepository } from "./state-repository.ts";

/** Writes a whole commit of the state into a folder of its own; a link comes out as a plain file. */
export async function checkOut(repo: StateRepository, commit: string, folder: string): Promise<void> {
  makeFolder(folder);
  const index = join(repo.gitDir, `pawl-index-${process.pid}-${Date.now()}`);
  step("sync check out");
  try {
    const plain = [
      "core.symlinks=false",
      "core.autocrlf=false",
      "core.fsmonitor=false",
      "core.hooksPath=/dev/null",
    ];
    const args = [...plain.flatMap((one) => ["-c", one]), "read-tree", "-u", "--reset", commit];
    const extra = { GIT_DIR: repo.gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index };
    expectGit(
      await askGit(args, { cwd: folder, env: repo.env, extra }),
      "The state could not be checked out",
    );
  } finally {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true });
  }
}

/** Begins our history with theirs, if we have none. Whoever began one meanwhile is joined to theirs later. */
export function beginWith(repo: StateRepository, commit: string): void {
  const args = ["-c", "core.hooksPath=/dev/null", "update-ref", "-m", "pawl", REF, commit, NOTHING];
  askGitSync(args, { cwd: repo.gitDir, env: repo.env, extra: { GIT_DIR: repo.gitDir } });
}
