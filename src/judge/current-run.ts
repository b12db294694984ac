import { Failure } from "../model/failure.ts";
import type { Stored } from "../model/record.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";

/** Who only starts others works in no worktree. */
export const startsOthers = ({ role }: Pick<Run, "role">) => role === "conductor" || role === "manager";

/** Worktrees were made for it; agents that work in another run's, and who starts others, have none of their own. */
export const isPlace = (one: Pick<Run, "within" | "role">) => one.within === undefined && !startsOthers(one);

/**
 * The run that a task's work is in: the latest one with worktrees, as long as they were not removed. A run that cannot be
 * read may be the latest, so then nobody can tell.
 */
export function findRun(reader: Reader, task: string): Stored<typeof run> | undefined {
  const { records, problems } = reader.parts(run, task);
  const [problem] = problems;
  if (problem)
    throw new Failure("unreadable", "run_unreadable", problem.message, {
      ...(problem.hint ? { hint: problem.hint } : {}),
      details: { file: problem.file },
    });
  const latest = records.findLast((one) => isPlace(one.value));
  return latest?.value.ended === "removed" ? undefined : latest;
}

/**
 * The run that something recorded now belongs to. An agent's own word counts only for a run of this very task that is
 * under way.
 */
export function runOf(reader: Reader, task: string, at: Pick<Situation, "run">): string | undefined {
  const { records } = reader.parts(run, task);
  const named = records.find((one) => one.value.id === at.run && one.value.status === "running");
  return named?.value.id ?? findRun(reader, task)?.value.id;
}

export function getRun(reader: Reader, task: string): Stored<typeof run> {
  const found = findRun(reader, task);
  if (found) return found;
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
