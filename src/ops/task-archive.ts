import * as z from "zod/mini";
import { change } from "../judge/change.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { flag, taskField } from "../model/input.ts";
import { LIVE } from "../model/lifecycle.ts";
import { task } from "../model/records/task.ts";
import { operation } from "./operation.ts";

export const taskArchive = operation({
  id: "task.archive",
  summary: "Archive a task: lists leave it out, and nothing is deleted",
  examples: ["pawl task archive T0001", "pawl task archive T0001 --undo"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), undo: flag("bring it back") }),
  milestone: ({ task: value }) => `${value.id}: ${value.archived ? "archived" : "back from the archive"}`,

  gather: (reader, input, at) => ({ stored: reader.task(getTask(reader, input.task, at)) }),

  decide(input, { stored }, at) {
    const { value: current } = stored;
    const archived = !input.undo;
    if (current.archived === archived) return { data: { task: current } };
    if (archived && LIVE.includes(current.status))
      throw new Failure("refused", "task_under_way", `${current.id} is ${current.status}.`, {
        hint: `Finish it first, or drop it: \`pawl task update ${current.id} --status dropped\`.`,
      });
    const about = archived ? "archived" : "back from the archive";
    const { effect, value } = change(task, stored, { archived }, at, about);
    return { data: { task: value }, effects: [effect] };
  },

  text: ({ task: value }, style) => `${style.bold(value.id)} ${value.archived ? "archived" : "not archived"}`,
});
