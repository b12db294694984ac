import * as z from "zod/mini";
import { choice, count, flag, line, many, maybe } from "../model/input.ts";
import { TASK_STATUSES } from "../model/records/task.ts";
import { columns, firstLine, type Style, statusColour, warningsOf } from "../model/text.ts";
import type { TaskSummary } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const taskList = operation({
  id: "task.list",
  summary: "List tasks",
  examples: [
    "pawl task list",
    "pawl task list --status active --status blocked",
    "pawl task list --label bug --json",
  ],
  access: "read",
  input: z.strictObject({
    status: many(choice(TASK_STATUSES, "only tasks with this status")),
    label: many(line("only tasks with this label", "LABEL")),
    limit: maybe(count("at most this many, newest first")),
    all: flag("include archived ones"),
  }),

  gather: (reader) => reader.tasks(),

  decide(input, { tasks, problems }) {
    const chosen = tasks.filter(
      (task) =>
        (input.all || !task.archived) &&
        (!input.status || input.status.includes(task.status)) &&
        (input.label ?? []).every((label) => task.labels.includes(label)),
    );
    const shown = input.limit === undefined ? chosen : chosen.slice(-input.limit).reverse();
    return {
      data: { tasks: shown },
      warnings: warningsOf(problems),
      next:
        tasks.length > 0
          ? undefined
          : problems.length > 0
            ? { command: "pawl doctor", reason: "some records cannot be read" }
            : { command: 'pawl task new "<title>"', reason: "there is no task yet" },
    };
  },

  text: ({ tasks }, style) => taskTable(tasks, style),
});

export function taskTable(tasks: readonly TaskSummary[], style: Style): string {
  if (tasks.length === 0) return "no tasks";
  return columns(
    tasks.map((task) => [
      style.bold(task.id),
      statusColour(task.status, style),
      firstLine(task.title, 90) +
        (task.blocker ? style.red(`  — ${firstLine(task.blocker, 60)}`) : "") +
        (task.labels.length > 0 ? style.dim(`  [${task.labels.join(", ")}]`) : "") +
        (task.archived ? style.dim("  (archived)") : ""),
    ]),
  );
}
