import { change } from "../../judge/change.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { type Run, run } from "../../model/records/run.ts";
import { task } from "../../model/records/task.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { RunAndTask } from "../start/start-records.ts";
import type { Ending } from "./finish-look.ts";

/** What is about to be done, with the commits that it is done to: afterwards the branches may be gone. */
export function recordEnding(
  reader: Reader,
  at: Situation,
  id: string,
  endings: readonly Ending[],
  reason: string,
  about: string,
): Plan<Run> {
  const stored = reader.part(run, taskOf(id), partOf(id));
  const repos = stored.value.repos.map((repo) => ({
    ...repo,
    head: endings.find((one) => one.repo.name === repo.name)?.tip ?? repo.head,
  }));
  const changed = change(run, stored, { repos, reason }, at, about);
  return { data: changed.value, effects: [changed.effect] };
}

export function recordEnded(
  reader: Reader,
  at: Situation,
  id: string,
  ended: "kept" | "removed",
  about: string,
): Plan<RunAndTask> {
  const stored = reader.part(run, taskOf(id), partOf(id));
  const storedTask = reader.task(taskOf(id));
  const { status } = storedTask.value;
  const over = change(run, stored, { ended, status: statusOf(stored.value, ended, status) }, at, about);
  if (status !== "merged")
    return { data: { run: over.value, task: storedTask.value }, effects: [over.effect] };
  const done = change(task, storedTask, { status: "done" }, at, "merged → done");
  return { data: { run: over.value, task: done.value }, effects: [over.effect, done.effect] };
}

/** How an agent's own run ended stays said, whatever becomes of its worktrees. */
function statusOf(value: Run, ended: "kept" | "removed", task: string): Run["status"] {
  if (MERGED.includes(task)) return "succeeded";
  if (value.status === "failed" || value.status === "succeeded") return value.status;
  return ended === "kept" && value.status !== "interrupted" ? "kept" : "interrupted";
}

export function recordNotEnded(reader: Reader, at: Situation, id: string, reason: string): Plan<Run> {
  const stored = reader.part(run, taskOf(id), partOf(id));
  const changed = change(run, stored, {}, at, `not ended: ${reason}`);
  return { data: changed.value, effects: [changed.effect] };
}
