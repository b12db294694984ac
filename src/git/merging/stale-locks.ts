import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../../files/pause.ts";
import { parseIdentity, seeProcesses } from "../../files/process-identity.ts";
import { textIfReadable } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import { step } from "../../model/steps.ts";
import { lockOf } from "../refs.ts";
import type { Journal, RepositoryStep } from "./journal.ts";

/** A git that lost its parent ends by itself, but it may be writing thousands of files first. */
const CHILD_PATIENCE_MS = 60_000;
/** Git holds these locks for milliseconds. */
const LOCK_PATIENCE_MS = 1_000;
const CLOCK_SLACK_MS = 1_000;

export async function waitForChildren(journal: Journal, say: (line: string) => void): Promise<void> {
  const { livenessOf } = seeProcesses();
  const started = Date.now();
  for (const text of journal.children) {
    const child = parseIdentity(text);
    for (let said = false; child && livenessOf(child) === "alive"; ) {
      const waited = Date.now() - started;
      if (waited > 1_000 && !said) {
        said = true;
        say(`Waiting for git (process ${child.pid}), which a killed pawl left running …`);
      }
      if (waited > CHILD_PATIENCE_MS) throw stillAtWork(child.pid);
      await pause(20);
    }
  }
}

function stillAtWork(pid: number): Failure {
  return new Failure(
    "conflict",
    "merge_unfinished",
    `A git of an earlier merge is still running: process ${pid}.`,
    {
      hint: "Let it finish, or end it if it hangs, then run the command again.",
      details: { pid },
    },
  );
}

/**
 * Removes the locks that a killed child of ours left on a branch and on HEAD. The branch's lock names the commit that
 * only we were moving it to. One that says nothing is ours if it came after we began and nobody lets go of it.
 */
export async function dropStaleLocks(
  journal: Pick<Journal, "children" | "started">,
  repo: Pick<RepositoryStep, "branch" | "new" | "head">,
  commonDir: string,
): Promise<void> {
  if (journal.children.length === 0) return;
  const branchLock = lockOf(commonDir, refOfBranch(repo.branch));
  const headLock = lockOf(join(commonDir, repo.head), "HEAD");
  if (textIfReadable(branchLock)?.trim() === repo.new) drop(branchLock);
  const suspects = [branchLock, headLock]
    .map((path) => ({ path, seen: seenAt(path) }))
    .filter(
      ({ path, seen }) => seen !== undefined && textIfReadable(path) === "" && isSince(path, journal.started),
    );
  if (suspects.length === 0) return;
  await pause(LOCK_PATIENCE_MS);
  for (const { path, seen } of suspects) if (seenAt(path) === seen) drop(path);
}

function drop(path: string): void {
  step("merge-drop-lock");
  rmSync(path, { force: true });
}

const seenAt = (path: string) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.mtimeMs}`;
};

const isSince = (path: string, started: number) =>
  (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= started - CLOCK_SLACK_MS;
