import * as z from "zod/mini";
import { change } from "../judge/change.ts";
import { getOwnTask } from "../judge/own-task.ts";

import { idNumber } from "../model/ids.ts";
import { line, taskField } from "../model/input.ts";
import { type Slice, task } from "../model/records/task.ts";
import { operation } from "./operation.ts";

export const sliceOpen = operation({
  id: "slice.open",
  summary: "Open a slice: one small step of a task that can be tested by itself",
  examples: ['pawl slice open "Parse the header"', 'pawl slice open "Retry twice" --task T0001'],
  access: "write",
  cli: { positional: ["title"] },
  input: z.strictObject({ title: line("what this step makes work", "TITLE"), task: taskField() }),

  gather: (reader, input, at) => ({ stored: reader.task(getOwnTask(reader, input.task, at)) }),

  decide(input, { stored }, at) {
    const { slices, id } = stored.value;
    const slice: Slice = {
      id: `S${Math.max(0, ...slices.map((one) => idNumber(one.id))) + 1}`,
      title: input.title,
      status: "open",
      decision: undefined,
      red: undefined,
      green: undefined,
      commit: undefined,
      by: at.actor,
    };
    const { effect, value } = change(task, stored, { slices: [...slices, slice] }, at, `${slice.id} opened`);
    return {
      data: { slice: { ...slice, id: `${id}/${slice.id}` }, task: { id, rev: value.rev } },
      effects: [effect],
      next: {
        command: `pawl verify --slice ${slice.id} --red -- <test command>`,
        reason: "watch the new test fail before you make it pass",
      },
    };
  },

  text: ({ slice }, style) => `${style.bold(slice.id)} ${slice.title}`,
});
