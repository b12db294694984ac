import { dirname, join } from "node:path";
import { removeIfEmpty } from "../../files/durable.ts";
import { parseIdentity, printIdentity, seeProcesses } from "../../files/process-identity.ts";
import { namesIfReadable } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import { firstFew } from "../../model/text.ts";
import type { CheckRun } from "../../ports/ports.ts";
import { expectGit, type Git } from "../run-git.ts";
import { besideOthers } from "../worktrees/beside-others.ts";
import { foreignFilters } from "./foreign-filters.ts";

const PREFIX = "pawl-try-";

/**
 * Runs commands on one commit, in a worktree of its own on no branch. It lies where the task's worktree lay, because
 * what a check needs (installed packages above all) is found from there, and its name says who may still need it.
 */
export async function tryOut(
  git: Git,
  commit: string,
  near: string,
  commands: readonly string[][],
  runCheck: (argv: readonly string[], cwd: string) => Promise<CheckRun>,
): Promise<CheckRun[]> {
  const folder = dirname(near);
  await removeAbandoned(git, folder);
  const place = join(folder, PREFIX + printIdentity(seeProcesses().self));
  step("try-out-worktree");
  const add = ["worktree", "add", "-q", "--detach", place, commit];
  const added = await besideOthers(git, add, { into: place });
  expectGit(added, "A worktree for the trial merge could not be created");
  try {
    await checkFiles(git, place, commit);
    const runs: CheckRun[] = [];
    for (const argv of commands) {
      const run = await runCheck(argv, place);
      runs.push(run);
      if (run.exitCode !== 0) break;
    }
    return runs;
  } finally {
    await remove(git, place);
  }
}

async function checkFiles(git: Git, place: string, commit: string): Promise<void> {
  const paths = await foreignFilters(git, place);
  if (paths.length === 0) return;
  throw new Failure(
    "refused",
    "files_filtered",
    `A filter of this clone changes ${firstFew(paths, 1)}, and ${commit.slice(0, 12)} does not ask for it.`,
    {
      hint: "Nothing was run. Look at .git/info/attributes and `git config --get-regexp ^filter`, and remove what is not yours.",
      details: { paths },
    },
  );
}

/**
 * Forced, because checks leave files behind; nobody but a check has ever worked in there. Where the task is finished, it
 * was the only one in its folder.
 */
async function remove(git: Git, place: string): Promise<void> {
  step("try-out-remove");
  await besideOthers(git, ["worktree", "remove", "--force", place]);
  removeIfEmpty(dirname(place));
}

async function removeAbandoned(git: Git, folder: string): Promise<void> {
  for (const name of namesIfReadable(folder).filter((one) => one.startsWith(PREFIX))) {
    const owner = parseIdentity(name.slice(PREFIX.length));
    if (owner && seeProcesses().livenessOf(owner) === "dead") await remove(git, join(folder, name));
  }
}
