import { getPart, getTask } from "../../judge/which-task.ts";
import { Failure } from "../../model/failure.ts";
import { parseTaskId } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

/** The run that `R2`, `T1/R2`, `T1` or nothing at all means; of a task, the latest one that an agent was started for. */
export function chooseRun(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound">,
  task?: string | undefined,
): Run {
  const isTask = named === undefined || /^t?\d+$/i.test(named);
  if (isTask) return latestRun(reader, getTask(reader, named ?? task, at));
  return getPart(reader, run, named, task, at).value;
}

function latestRun(reader: Reader, task: string): Run {
  reader.task(task);
  const found = reader.parts(run, task).records.findLast((one) => one.value.attempts.length > 0);
  if (found) return found.value;
  throw new Failure("not_found", "no_run", `No agent has been started for ${task}.`, {
    hint: `pawl run ${task} --agent claude`,
    details: { task },
  });
}

/** The agent of a run was started on another machine: what its processes do cannot be seen from here. */
export function elsewhere(value: Run): Failure {
  return new Failure("conflict", "other_clone", `${value.id} runs in another clone (${value.clone}).`, {
    hint: "Do this there; then `pawl sync` in both clones brings the result here.",
    details: { run: value.id, clone: value.clone },
  });
}

export const tasksOf = (named: readonly string[]): string[] => [
  ...new Set(named.map((one) => parseTaskId(one))),
];
