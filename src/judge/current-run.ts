import { Failure } from "../model/failure.ts";
import type { Stored } from "../model/record.ts";
import { run } from "../model/records/run.ts";
import type { Reader } from "../ports/ports.ts";

/**
 * The run that a task's work is in: the latest one, as long as its worktrees were not removed. A run that cannot be
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
  const latest = records.at(-1);
  return latest?.value.ended === "removed" ? undefined : latest;
}

export function getRun(reader: Reader, task: string): Stored<typeof run> {
  const found = findRun(reader, task);
  if (found) return found;
  throw new Failure(
    "refused",
    "no_run",
    `${task} has no run: nobody has started it, or its worktrees are gone.`,
    {
      hint: `pawl start ${task}`,
      details: { task },
    },
  );
}
