import { addPart, change, madeNow } from "../../judge/change.ts";
import { findRun } from "../../judge/current-run.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import type { ChangesOf } from "../../model/record.ts";
import { BY_HAND, type Run, run } from "../../model/records/run.ts";
import { type Task, task } from "../../model/records/task.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { knowRepositories } from "./know-repositories.ts";
import { activeElsewhere } from "./start-conflicts.ts";
import type { Part } from "./start-plan.ts";

export interface RunAndTask {
  run: Run;
  task: Task;
}

/** Records what is about to be created, so that a later command can finish or undo it. */
export function recordStarting(
  reader: Reader,
  at: Situation,
  id: string,
  parts: readonly Part[],
  restored?: string,
): Plan<RunAndTask> {
  const current = findRun(reader, id)?.value;
  if (current && current.ended === undefined)
    throw activeElsewhere(
      current,
      current.repos.map((one) => one.worktree),
    );
  const repos = parts.map((one) => one.repo);
  const from = restored === undefined ? "" : ` from ${restored}`;
  const about = `starting ${repos.map((one) => `${one.name} on ${one.branch}`).join(", ")}${from}`;
  const made = addPart(
    run,
    id,
    reader.partNames(run, id),
    (name) => newRun(name, repos, at, restored),
    about,
  );
  return {
    data: { run: made.value, task: reader.task(id).value },
    effects: [
      made.effect,
      ...knowRepositories(
        reader,
        parts.map((one) => one.place.site),
        at,
      ),
    ],
  };
}

function newRun(id: string, repos: Run["repos"], at: Situation, restored: string | undefined): Run {
  return {
    id,
    status: "starting",
    ended: undefined,
    reason: undefined,
    ...BY_HAND,
    command: [],
    pid: undefined,
    exit_code: undefined,
    log: undefined,
    clone: at.clone,
    holder: at.actor,
    repos,
    snapshots: [],
    refreshed: [],
    landed: [],
    restored,
    ...madeNow(at),
    notes: "",
  };
}

/** Everything has been created: work can start. */
export function recordRunning(
  reader: Reader,
  at: Situation,
  id: string,
  about: string,
  changes: ChangesOf<typeof run> = {},
): Plan<RunAndTask> {
  const owner = taskOf(id);
  const [stored, storedTask] = [reader.part(run, owner, partOf(id)), reader.task(owner)];
  const held = stored.value.holder === at.actor ? "" : `, by ${at.actor} from ${stored.value.holder}`;
  const all = { ...changes, status: "running", holder: at.actor } as const;
  const nowRunning = change(run, stored, all, at, about + held);
  const { value } = storedTask;
  const [first] = stored.value.repos;
  const branch = first?.branch;
  // From here on the task's record says where the work goes, whatever said so before.
  const isMeant = stored.value.repos.some((one) => one.base_branch === value.base_branch);
  const base_branch = isMeant ? value.base_branch : first?.base_branch;
  const isActive = value.status === "active" && value.blocker === undefined;
  if (isActive && value.branch === branch && value.base_branch === base_branch)
    return { data: { run: nowRunning.value, task: value }, effects: [nowRunning.effect] };
  const wanted = { status: "active", branch, base_branch, blocker: undefined } as const;
  const active = change(task, storedTask, wanted, at, `${value.status} → active on ${branch ?? "no branch"}`);
  return { data: { run: nowRunning.value, task: active.value }, effects: [nowRunning.effect, active.effect] };
}

/** Nothing came of it. What had to stay keeps the run alive, so that it can be ended properly. */
export function recordFailed(
  reader: Reader,
  at: Situation,
  id: string,
  reason: string,
  left: readonly string[],
): Plan<RunAndTask> {
  const stored = reader.part(run, taskOf(id), partOf(id));
  const words = left.length === 0 ? reason : `${reason} Left in place: ${left.join(", ")}.`;
  const changes: ChangesOf<typeof run> = { status: "failed", reason: words };
  if (left.length === 0) changes.ended = "removed";
  const failed = change(run, stored, changes, at, words);
  return { data: { run: failed.value, task: reader.task(taskOf(id)).value }, effects: [failed.effect] };
}
