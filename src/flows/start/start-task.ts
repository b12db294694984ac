import { laneWaitsFor } from "../../judge/lanes.ts";
import { readyTasks } from "../../judge/ready.ts";
import { getTask } from "../../judge/which-task.ts";
import { Failure } from "../../model/failure.ts";
import { LIVE, MERGED } from "../../model/lifecycle.ts";
import type { Stored } from "../../model/record.ts";
import type { task } from "../../model/records/task.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

/** The task to start: the one named, the one we are in, the only one under way. An open one is only suggested. */
export function taskToStart(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound">,
): string {
  return getTask(reader, named, at, (candidates) => {
    const [ready, ...others] = readyTasks(reader.tasks().tasks);
    const live = candidates.some((one) => LIVE.includes(one.status));
    if (live || !ready || others.length > 0) return undefined;
    return { task: ready.id, command: `pawl start ${ready.id}` };
  });
}

/** Nobody works on what is merged, done, dropped or archived; `what` is what was asked for. */
export function expectWorkable({ value }: Stored<typeof task>, what: "started" | "resumed"): void {
  const { id, status } = value;
  if (value.archived)
    throw new Failure("refused", "bad_transition", `${id} is archived; it cannot be ${what}.`, {
      hint: `pawl task archive ${id} --undo`,
      details: { from: "archived", to: "active" },
    });
  if (status === "merged" || status === "done" || status === "dropped")
    throw new Failure("refused", "bad_transition", `${id} is ${status}; it cannot be ${what}.`, {
      hint: HINTS[status].replaceAll("T…", id),
      details: { from: status, to: "active" },
    });
}

/** What keeps a task from being started, wherever it is to be done. */
export function checkStartable(reader: Reader, stored: Stored<typeof task>): void {
  expectWorkable(stored, "started");
  const { value } = stored;
  const { id } = value;
  const known = new Map(reader.tasks().tasks.map((one) => [one.id, one.status]));
  const open = value.depends_on.filter((one) => !MERGED.includes(known.get(one) ?? ""));
  if (open.length === 0) {
    expectLaneFree(reader, id);
    return;
  }
  const [first = ""] = open;
  throw new Failure("refused", "dependency_open", `${id} waits for ${open.join(", ")}.`, {
    hint: known.has(first)
      ? `${first} is ${known.get(first)}: pawl start ${first}`
      : `There is no ${first}: pawl task update ${id} --depends …`,
    details: { open },
  });
}

/** A task that shares paths with another waits until that one is merged or has released them. */
function expectLaneFree(reader: Reader, id: string): void {
  const waits = laneWaitsFor(reader, id);
  if (waits.length === 0) return;
  throw new Failure("refused", "lane_waits", `The lane of ${id} waits for ${waits.join(", ")}.`, {
    hint: `pawl lane list shows who owns what; it is free once ${waits[0]} is merged or its lane is closed.`,
    details: { open: waits },
  });
}

const HINTS = {
  merged: "What is left is to end it: pawl finish T… --remove --reason merged",
  done: "done is final. Open a new task and name this one in --depends.",
  dropped: "pawl task update T… --status open",
} as const;
