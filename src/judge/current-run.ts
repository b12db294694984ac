import { Failure } from "../model/failure.ts";
import type { Stored } from "../model/record.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";

/** A run that only starts others has no worktree to work in. */
export const startsOthers = ({ role }: Pick<Run, "role">) => role === "conductor" || role === "manager";

/**
 * Whether the run has worktrees of its own. Agents that work in another run's, and runs that start others,
 * have none.
 */
export const hasWorktrees = (one: Pick<Run, "within" | "role">) =>
  one.within === undefined && !startsOthers(one);

/** Its work was saved, and there was none: no file differs from the base. */
export const changedNothing = ({ snapshots }: Pick<Run, "snapshots">) =>
  snapshots.length > 0 && snapshots.every((one) => one.files === 0);

/**
 * The run that has a task's work: the latest with worktrees, unless they were removed. An unreadable run may
 * be the latest, so then this fails.
 */
export function findRun(reader: Reader, task: string): Stored<typeof run> | undefined {
  const { records, problems } = reader.parts(run, task);
  const [problem] = problems;
  if (problem)
    throw new Failure("unreadable", "run_unreadable", problem.message, {
      ...(problem.hint ? { hint: problem.hint } : {}),
      details: { file: problem.file },
    });
  return latestPlace(records);
}

/** The latest run with worktrees, unless they were removed; among whatever could be read. */
export function latestPlace<T extends { value: Run }>(records: readonly T[]): T | undefined {
  const latest = records.findLast((one) => hasWorktrees(one.value));
  return latest?.value.ended === "removed" ? undefined : latest;
}

/**
 * The run to which something recorded now belongs. The run that an agent names counts only if it belongs to
 * this task and is running.
 */
export function runOf(reader: Reader, task: string, at: Pick<Situation, "run">): string | undefined {
  const { records } = reader.parts(run, task);
  const named = records.find((one) => one.value.id === at.run && one.value.status === "running");
  return named?.value.id ?? findRun(reader, task)?.value.id;
}

/** The hint for a task that has ended. */
export const MORE_WORK = 'For more work, start another task: pawl start "…"';

export function getRun(reader: Reader, task: string): Stored<typeof run> {
  const found = findRun(reader, task);
  if (found) return found;
  if (reader.task(task).value.status === "done")
    throw new Failure(
      "refused",
      "no_run",
      `${task} is done: its worktree was removed, nothing is left to do.`,
      {
        hint: MORE_WORK,
        details: { task },
      },
    );
  throw new Failure(
    "refused",
    "no_run",
    `${task} has no run: nobody has started it, or its worktrees were removed.`,
    {
      hint: `pawl start ${task}`,
      details: { task },
    },
  );
}
