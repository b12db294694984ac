import { dirname, join } from "node:path";
import { parseIdentity, printIdentity, seeProcesses } from "../../files/process-identity.ts";
import { namesIfReadable } from "../../files/read.ts";
import { step } from "../../model/steps.ts";
import type { CheckRun } from "../../ports/ports.ts";
import type { Git } from "../run-git.ts";

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
  await git.expect("A worktree for the trial merge could not be made", [
    "worktree",
    "add",
    "-q",
    "--detach",
    place,
    commit,
  ]);
  try {
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

/** Forced, because checks leave files behind; nobody but a check has ever worked in there. */
async function remove(git: Git, place: string): Promise<void> {
  step("try-out-remove");
  await git.ask(["worktree", "remove", "--force", place]);
}

async function removeAbandoned(git: Git, folder: string): Promise<void> {
  for (const name of namesIfReadable(folder).filter((one) => one.startsWith(PREFIX))) {
    const owner = parseIdentity(name.slice(PREFIX.length));
    if (owner && seeProcesses().livenessOf(owner) === "dead") await remove(git, join(folder, name));
  }
}
