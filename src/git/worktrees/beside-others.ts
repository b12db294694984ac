import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { pause } from "../../files/pause.ts";
import type { Git, GitAnswer } from "../run-git.ts";

/**
 * Runs `git worktree …` while other processes make and remove worktrees of the same repository. Git reads what it knows
 * of every worktree and dies over an entry that is half written; and whoever removes the last worktree of a folder takes
 * the empty folder along, between our making it and git's using it.
 */
export async function besideOthers(
  git: Git,
  args: readonly string[],
  options: { into?: string } = {},
): Promise<GitAnswer> {
  for (let tries = 1; ; tries++) {
    if (options.into !== undefined) mkdirSync(dirname(options.into), { recursive: true });
    const done = await git.ask(args);
    if (done.code === 0 || !isPassing(done.err) || tries === MOST_TRIES) return done;
    await pause(10 + Math.random() * 40);
  }
}

/** Together a second and a half, while what we wait for takes a millisecond. */
const MOST_TRIES = 50;

const isPassing = (said: string) =>
  /failed to read .*\/commondir/.test(said) ||
  /(could not create (leading directories|directory) of|failed to move) .*: No such file or directory/.test(
    said,
  );
