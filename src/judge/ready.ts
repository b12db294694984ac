import type { TaskSummary } from "../ports/ports.ts";

/** A dependency is met once its work is merged; a dropped or missing one never will be. */
export const MET: readonly string[] = ["merged", "done"];

/** Open tasks with nothing in their way, oldest first. */
export function readyTasks(tasks: readonly TaskSummary[]): TaskSummary[] {
  const met = new Set(tasks.filter((task) => MET.includes(task.status)).map((task) => task.id));
  return tasks.filter(
    (task) => task.status === "open" && !task.archived && task.depends_on.every((id) => met.has(id)),
  );
}
