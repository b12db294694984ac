import { MERGED } from "../model/lifecycle.ts";
import type { TaskSummary } from "../ports/ports.ts";

/** Open tasks with nothing in their way, oldest first. */
export function readyTasks(tasks: readonly TaskSummary[]): TaskSummary[] {
  const met = new Set(tasks.filter((task) => MERGED.includes(task.status)).map((task) => task.id));
  return tasks.filter(
    (task) => task.status === "open" && !task.archived && task.depends_on.every((id) => met.has(id)),
  );
}
