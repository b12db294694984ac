import type { Hands } from "../../ports/hands.ts";
import { startRunning } from "../start/start-carry-out.ts";

const TRIES = 200;
const PAUSE_MS = 50;

/**
 * Alone with a task's worktrees and runs. Others hold it for as long as it takes to write an end down or to make a
 * worktree, so that is waited for.
 */
export async function withTask<T>(hands: Hands, task: string, act: () => Promise<T>): Promise<T> {
  const worktrees = await hands.git.worktrees();
  const agents = await hands.agents();
  for (let tries = 0; tries < TRIES; tries++) {
    const release = worktrees.hold(task);
    if (release)
      try {
        return await act();
      } finally {
        release();
      }
    await agents.pause(PAUSE_MS);
  }
  throw startRunning(task);
}
