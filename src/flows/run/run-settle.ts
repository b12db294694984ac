import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Agents } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";
import { endAttempt } from "./run-end.ts";

/**
 * Looks after every run of this machine whose end is not in the records: completes what a crash left, and writes down
 * what has ended. Runs that go on are left alone. Answers with the runs that ended.
 */
export async function settleRuns(hands: Hands): Promise<Run[]> {
  const agents = await hands.agents();
  const ended: Run[] = [];
  for (const id of agents.open()) {
    if (agents.look(id)?.state === "running") continue;
    const release = (await hands.git.worktrees()).hold(taskOf(id));
    // Somebody starts, ends or settles it right now.
    if (!release) continue;
    try {
      const over = await settleRun(hands, agents, id);
      if (over) ended.push(over);
    } finally {
      release();
    }
  }
  return ended;
}

/** Under the task's lock: nobody is between writing an attempt down and starting it. */
export async function settleRun(hands: Hands, agents: Agents, id: string): Promise<Run | undefined> {
  const value = await hands.look((reader) =>
    reader.hasFile(`tasks/${taskOf(id)}/runs/${partOf(id)}/run.md`)
      ? reader.part(run, taskOf(id), partOf(id)).value
      : undefined,
  );
  if (value) await untilRestored(agents, value);
  const view = await agents.settle(id);
  const attempt = value?.attempts.at(-1);
  if (!value || !attempt || attempt.ended !== undefined) {
    if (view === undefined || view.state === "ended") agents.forget(id);
    return undefined;
  }
  // The command that recorded it was killed before it started anything.
  const never = view === undefined || view.number < attempt.number;
  if (!never && view.state !== "ended") return undefined;
  const over = await endAttempt(hands.itself(), value, attempt, never ? undefined : agents.ended(id));
  agents.forget(id);
  return over;
}

const RESTORE_TRIES = 50;
const RESTORE_PAUSE_MS = 100;

/**
 * A run that was seen at work and has no folder any more: somebody removed it, and its supervisor makes it again within
 * two or three seconds. Only if none does is there nobody left.
 */
export async function untilRestored(agents: Agents, { id, attempts }: Run): Promise<void> {
  const attempt = attempts.at(-1);
  if (attempt?.status !== "running" || attempt.ended !== undefined) return;
  for (let tries = 0; tries < RESTORE_TRIES && !agents.look(id); tries++)
    await agents.pause(RESTORE_PAUSE_MS);
}

const REST_TRIES = 400;
const REST_PAUSE_MS = 25;

/**
 * Whoever waited for the end may remove the project next. So this returns only when the supervisor, and
 * whatever command records the end, are done. One that hangs is not waited for forever; the records are true by then.
 */
export async function untilAtRest(hands: Hands, ids: readonly string[]): Promise<void> {
  const agents = await hands.agents();
  const worktrees = await hands.git.worktrees();
  // A command that outlived its supervisor still holds the task while it writes.
  const isFree = (task: string) => {
    const release = worktrees.hold(task);
    release?.();
    return release !== undefined;
  };
  const isOver = (id: string) => agents.isAtRest(id) && isFree(taskOf(id));
  for (let tries = 0; tries < REST_TRIES && !ids.every(isOver); tries++) await agents.pause(REST_PAUSE_MS);
}

/** Refused while agents of this task are at work. */
export async function expectNoneAtWork(hands: Hands, task: string, what: string): Promise<void> {
  const agents = await hands.agents();
  const open = agents.open().filter((id) => taskOf(id) === task);
  const [working] = open.filter((id) => agents.look(id)?.state !== "ended");
  if (working === undefined) return;
  throw new Failure("conflict", "run_open", `${working} is running; ${what} would disturb it.`, {
    hint: `Stop it first: pawl run stop ${working}`,
    details: { run: working },
  });
}
