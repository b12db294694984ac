import * as z from "zod/mini";
import { readyTasks } from "../judge/ready.ts";
import { count, maybe } from "../model/input.ts";
import { warningsOf } from "../model/text.ts";
import { operation } from "./operation.ts";
import { taskTable } from "./task-list.ts";

export const taskReady = operation({
  id: "task.ready",
  summary: "List open tasks that are ready to start",
  examples: ["pawl task ready", "pawl task ready --limit 1 --json"],
  access: "read",
  input: z.strictObject({ limit: maybe(count("at most this many, oldest first")) }),

  gather: (reader) => reader.tasks(),

  decide(input, { tasks, problems }) {
    const ready = readyTasks(tasks).slice(0, input.limit);
    const [first] = ready;
    return {
      data: { tasks: ready },
      warnings: warningsOf(problems),
      next: first && {
        command: `pawl task show ${first.id}`,
        reason: "the oldest task that is ready to start",
      },
    };
  },

  text: ({ tasks }, style) => (tasks.length === 0 ? "no task is ready" : taskTable(tasks, style)),
});
