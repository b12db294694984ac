import { findCycle } from "../model/dependencies.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { ENDED } from "../model/lifecycle.ts";
import { matches, overlaps } from "../model/path-patterns.ts";
import { type Lane, lane } from "../model/records/parts.ts";
import { quoted } from "../model/text.ts";
import type { Reader } from "../ports/ports.ts";

/** The statuses of tasks whose lanes no longer count. */

/** Lanes that count now: open ones of tasks that have not ended. */
export function liveLanes(reader: Reader): Lane[] {
  return reader
    .tasks()
    .tasks.filter((one) => !ENDED.includes(one.status) && !one.archived)
    .flatMap((one) => reader.parts(lane, one.id).records.map((record) => record.value))
    .filter((one) => one.status === "open");
}

export const lanesOf = (reader: Reader, task: string): Lane[] =>
  reader
    .parts(lane, task)
    .records.map((one) => one.value)
    .filter((one) => one.status === "open");

interface Overlap {
  path: string;
  other: Lane;
  otherPath: string;
}

/** The first path that also lies in another task's lane, unless one of the two waits for the other. */
function findOverlap(
  wanted: Pick<Lane, "id" | "paths" | "after">,
  others: readonly Lane[],
): Overlap | undefined {
  const task = taskOf(wanted.id);
  for (const other of others) {
    const isSerial = wanted.after.includes(taskOf(other.id)) || other.after.includes(task);
    if (taskOf(other.id) === task || isSerial) continue;
    for (const path of wanted.paths)
      for (const otherPath of other.paths) if (overlaps(path, otherPath)) return { path, other, otherPath };
  }
  return undefined;
}

/** Refuses a lane that overlaps another task's, or that waits for a task which waits for it. */
export function checkLane(reader: Reader, wanted: Pick<Lane, "id" | "paths" | "after">): void {
  const others = liveLanes(reader).filter((one) => one.id !== wanted.id);
  checkOrder(reader, wanted, others);
  const found = findOverlap(wanted, others);
  if (!found) return;
  const { path, other, otherPath } = found;
  const whose = taskOf(other.id);
  throw new Failure(
    "conflict",
    "lane_overlap",
    `${quoted(path)} overlaps ${quoted(otherPath)} of ${other.id}, which ${other.owner} owns.`,
    {
      hint: `Choose other paths, or have it wait until ${whose} is merged: --after ${whose}`,
      details: { path, lane: other.id, owner: other.owner, other_path: otherPath },
    },
  );
}

/** Tasks that wait for each other, through lanes or dependencies, would wait forever. */
function checkOrder(
  reader: Reader,
  { id, after }: Pick<Lane, "id" | "after">,
  others: readonly Lane[],
): void {
  const task = taskOf(id);
  for (const one of after) reader.task(one);
  const edges = reader.tasks().tasks.map((one) => {
    const waits = others.filter((each) => taskOf(each.id) === one.id).flatMap((each) => each.after);
    return { id: one.id, depends_on: [...one.depends_on, ...waits] };
  });
  const circle = findCycle(task, after, edges);
  if (!circle) return;
  throw new Failure("refused", "lane_circle", `They would wait for each other: ${circle.join(" → ")}.`, {
    hint: "`pawl lane list` shows who waits for whom.",
    details: { field: "after", circle },
  });
}

/** Tasks that this one's lanes wait for: neither merged nor dropped, with lanes of their own still open. */
export function laneWaitsFor(reader: Reader, task: string): string[] {
  const status = new Map(reader.tasks().tasks.map((one) => [one.id, one.status]));
  const wanted = new Set(lanesOf(reader, task).flatMap((one) => one.after));
  return [...wanted].filter(
    (one) => !ENDED.includes(status.get(one) ?? "dropped") && lanesOf(reader, one).length > 0,
  );
}

/** Files outside of all lanes of the task; empty if it has none. */
export function outsideOf(lanes: readonly Lane[], files: readonly string[]): string[] {
  if (lanes.length === 0) return [];
  const paths = lanes.flatMap((one) => one.paths);
  return files.filter((file) => !paths.some((path) => matches(file, path)));
}
