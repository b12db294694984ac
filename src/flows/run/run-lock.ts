import { startsOthers } from "../../judge/current-run.ts";
import { Failure } from "../../model/failure.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import { startRunning } from "../start/start-carry-out.ts";
import { openRunsOf, storedRun } from "./run-records.ts";

/** Half a minute: on a machine that is busy with agents, another start may take ten seconds. */
const TRIES = 600;
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

/** Two never work in one worktree, and a task has one pipeline and one manager at a time. Certain only under the task's lock. */
export async function expectNoRival(
  hands: Hands,
  task: string,
  wish: { role: NonNullable<Run["role"]>; mode: Run["mode"] },
): Promise<void> {
  const isRival = (one: Run) =>
    startsOthers(wish)
      ? one.role === wish.role && one.mode === wish.mode && one.mode !== "parallel"
      : !startsOthers(one);
  const open = await hands.look((reader) => openRunsOf(reader, task).find(isRival));
  if (!open) return;
  const does = open.role === "manager" ? "manages" : "is working on";
  throw new Failure("conflict", "run_open", `${open.id} ${does} ${task} (${open.holder}).`, {
    hint: `To watch it: pawl run log ${open.id} --follow. To stop it: pawl run stop ${open.id}`,
    details: { run: open.id, holder: open.holder },
  });
}

/** Under the task's lock: refuses if the run was continued since it was read. */
export async function expectNotResumed(hands: Hands, { id, attempts }: Run): Promise<void> {
  const now = await hands.look((reader) => storedRun(reader, id).value);
  if (now.attempts.length === attempts.length) return;
  throw new Failure("conflict", "run_open", `${id} was resumed by somebody else at the same moment.`, {
    hint: `pawl run log ${id} --follow`,
    details: { run: id },
  });
}
