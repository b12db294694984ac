import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textIfReadable } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import { copyIndex } from "../copy-index.ts";
import { type Checkout, expectGit, Git, type GitAnswer } from "../run-git.ts";
import type { ChangedPath } from "./changed-paths.ts";
import { hiddenPaths } from "./hidden-paths.ts";
import type { CheckoutStep } from "./journal.ts";

/** A worktree on its way from one commit to another, with what the journal says about it. */
export interface Moving extends Checkout {
  step: CheckoutStep;
}

const lockPath = ({ gitDir }: Checkout) => join(gitDir, "index.lock");
const indexPath = ({ gitDir }: Checkout) => join(gitDir, "index");
/** The index as it will be, until it takes the place of the user's in one rename. */
export const nextIndex = ({ gitDir, step: { token } }: Moving) => join(gitDir, `pawl-index-${token}`);

/**
 * Takes git's own lock of the index, as git would: nobody adds, commits or switches in this worktree until it is
 * released, not even after our death. It says whose it is, and it has to say so from its first moment.
 */
export function lockIndex(moving: Moving): void {
  const own = `${lockPath(moving)}-${moving.step.token}`;
  step("merge-lock-index");
  try {
    writeFileSync(own, moving.step.token);
    linkSync(own, lockPath(moving));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new Failure("refused", "index_locked", `Another git process is running in ${moving.root}.`, {
      hint: "Let it finish, then approve again.",
      details: { worktree: moving.root, file: lockPath(moving) },
      cause,
    });
  } finally {
    rmSync(own, { force: true });
  }
}

export const holdsIndexLock = (moving: Moving) => textIfReadable(lockPath(moving)) === moving.step.token;

/** Lets go of the index, and of everything that only mattered while we had it. */
export function unlockIndex(moving: Moving): void {
  step("merge-unlock-index");
  for (const own of [
    nextIndex(moving),
    `${nextIndex(moving)}.lock`,
    `${lockPath(moving)}-${moving.step.token}`,
  ])
    rmSync(own, { force: true });
  if (holdsIndexLock(moving)) rmSync(lockPath(moving), { force: true });
}

/** Writes the files of the new commit, and an index to go with them beside the user's. */
export async function writeFiles(
  env: Environment,
  moving: Moving,
  move: { old: string; new: string; changed: readonly ChangedPath[] },
  onChild: (pid: number | undefined) => void,
): Promise<void> {
  copyIndex(indexPath(moving), nextIndex(moving));
  const git = Git.on("quiet", env, moving).withIndex(nextIndex(moving));
  const hidden = await hiddenPaths(git, move.changed);
  const mark = async (option: string, paths: readonly string[]) => {
    const args = ["update-index", option, "-z", "--stdin"];
    if (paths.length > 0) await git.expect("The index could not be marked", args, paths.join("\0"));
  };
  // Entries that git was told not to look at are not refreshed, and then count as changed. They were looked at by us.
  await mark("--no-assume-unchanged", hidden.unchanged);
  await mark("--no-skip-worktree", hidden.skipped);
  // A file that was only touched counts as changed until it has been looked at; that is no reason to refuse.
  await git.ask(["update-index", "-q", "--refresh"]);
  const writing = behindGate(git, ["read-tree", "-m", "-u", move.old, move.new]);
  onChild(writing.pid);
  step("merge-files");
  expectGit(await writing.run(), `The files in ${moving.root} could not be updated`);
  const stays = new Set(move.changed.filter((one) => one.new).map((one) => one.path));
  const staying = (path: string) => stays.has(path);
  await mark("--assume-unchanged", hidden.unchanged.filter(staying));
  await mark("--skip-worktree", hidden.skipped.filter(staying));
}

/**
 * Git behind a gate: the process exists, and has a pid to write down, before it may do anything. Should we die in
 * between, the gate stays shut.
 */
function behindGate(git: Git, args: readonly string[]) {
  const child = git.start(args, ["sh", "-c", 'read -r go && exec "$@"', "sh"]);
  child.stdout.resume();
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<GitAnswer>((done) => {
    child.on("error", (error) => done({ code: 127, out: "", err: error.message }));
    child.on("close", (code) => done({ code: code ?? 128, out: "", err }));
  });
  return {
    pid: child.pid,
    run: () => {
      child.stdin.end("go\n");
      return ended;
    },
  };
}

/** The files are those of the new commit: the index follows, with whatever the user had noted in it. */
export async function moveIndex(
  env: Environment,
  moving: Moving,
  move: { old: string; new: string },
): Promise<void> {
  step("merge-next-index");
  rmSync(`${nextIndex(moving)}.lock`, { force: true });
  copyIndex(indexPath(moving), nextIndex(moving));
  const git = Git.on("quiet", env, moving).withIndex(nextIndex(moving));
  await git.expect(`The index of ${moving.root} could not be updated`, [
    "read-tree",
    "-i",
    "-m",
    move.old,
    move.new,
  ]);
  await git.ask(["update-index", "-q", "--refresh"]);
  installIndex(moving);
}

export function installIndex(moving: Moving): void {
  step("merge-index");
  renameSync(nextIndex(moving), indexPath(moving));
}

/** The files were written anew, so their times are not those that the index knows. */
export async function refreshIndex(env: Environment, checkout: Checkout): Promise<void> {
  await Git.on("quiet", env, checkout).ask(["update-index", "-q", "--refresh"]);
}
