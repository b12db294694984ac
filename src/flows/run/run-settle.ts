import { Failure } from "../../model/failure.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Agents } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";
import { partName, taskName } from "../start/start-records.ts";
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
    const release = (await hands.git.worktrees()).hold(taskName(id));
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
    reader.hasFile(`tasks/${taskName(id)}/runs/${partName(id)}/run.md`)
      ? reader.part(run, taskName(id), partName(id)).value
      : undefined,
  );
  const view = await agents.settle(id);
  const attempt = value?.attempts.at(-1);
  if (!value || !attempt || attempt.ended !== undefined) {
    if (view === undefined || view.state === "ended") agents.forget(id);
    return undefined;
  }
  // Whoever wrote it down was killed before it could start anything.
  const never = view === undefined || view.number < attempt.number;
  if (!never && view.state !== "ended") return undefined;
  const over = await endAttempt(hands.itself(), value, attempt, never ? undefined : agents.ended(id));
  agents.forget(id);
  return over;
}

/** Refused while agents of this task are at work. */
export async function expectNoneAtWork(hands: Hands, task: string, what: string): Promise<void> {
  const agents = await hands.agents();
  const open = agents.open().filter((id) => taskName(id) === task);
  const [working] = open.filter((id) => agents.look(id)?.state !== "ended");
  if (working === undefined) return;
  throw new Failure(
    "conflict",
    "run_open",
    `${working} is at work; ${what} would pull the ground from under it.`,
    {
      hint: `Stop it first: pawl run stop ${working}`,
      details: { run: working },
    },
  );
}
