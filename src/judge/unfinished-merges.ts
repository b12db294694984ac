import { Failure } from "../model/failure.ts";
import { shorten } from "../model/ids.ts";
import { run } from "../model/records/run.ts";
import { plural } from "../model/text.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader, TaskSummary } from "../ports/ports.ts";
import { latestPlace } from "./current-run.ts";
import { findTask, getTask } from "./which-task.ts";

/** More than anybody leaves lying around, and few enough to read each. */
const MOST = 64;

/** Merged tasks whose worktrees are still in this clone: first the one we are in, then the newest. */
export function mergedHere(reader: Reader, { clone, bound }: Pick<Situation, "clone" | "bound">) {
  const isHere = ({ id }: TaskSummary) => latestPlace(reader.parts(run, id).records)?.value.clone === clone;
  const merged = reader.tasks().tasks.filter((one) => one.status === "merged" && !one.archived);
  const found = merged.slice(-MOST).reverse().filter(isHere);
  return [...found.filter((one) => one.id === bound), ...found.filter((one) => one.id !== bound)];
}

/**
 * The task to end: the one named, or the one we are in. If neither is certain, merged tasks are the
 * likeliest, so they are listed.
 */
export function taskToEnd(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound" | "clone">,
): string {
  const { id } = findTask(reader, named, at);
  const isSure = named !== undefined || (id !== undefined && isWhereWeStand(reader, id, at));
  const merged = isSure ? [] : mergedHere(reader, at);
  if (merged.length === 0) return getTask(reader, named, at);
  const rows = merged.map((one) => `pawl finish ${one.id}  ${shorten(one.title, 50)}`);
  throw new Failure(
    "refused",
    "which_task",
    `Which task? ${plural(merged.length, "merged task")} can be ended here.`,
    { hint: rows.join("\n"), details: { candidates: merged.map((one) => one.id) } },
  );
}

const isWhereWeStand = (reader: Reader, id: string, { bound, branch }: Pick<Situation, "branch" | "bound">) =>
  id === bound || (branch !== undefined && reader.task(id).value.branch === branch);
