import * as z from "zod/mini";
import { addPart, madeNow } from "../judge/change.ts";
import { getTask, oneTask } from "../judge/which-task.ts";
import { parsePartRef } from "../model/ids.ts";
import { line, many, maybe, prose, raw, taskField } from "../model/input.ts";
import { decision } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";
import { noSlice } from "./slice-close.ts";

export const decide = operation({
  id: "decide",
  summary: "Record a decision and the reason for it",
  examples: ['pawl decide "Keep the old format readable" --why "users have files from 2019"'],
  access: "write",
  cli: { positional: ["what"] },
  input: z.strictObject({
    what: prose("what was decided"),
    why: prose("the reason"),
    changed: many(raw("a file it changed", "FILE")),
    slice: maybe(line("the slice it belongs to", "S", 40)),
    task: taskField(),
  }),

  gather(reader, input, at) {
    const ref = input.slice === undefined ? undefined : parsePartRef(input.slice, "S", "slice");
    const id = getTask(reader, oneTask(ref?.task, input.task), at);
    const { slices } = reader.task(id).value;
    return { id, slices, slice: ref?.part, names: reader.partNames(decision, id) };
  },

  decide(input, { id, slices, slice, names }, at) {
    if (slice && !slices.some((one) => one.id === slice)) throw noSlice(id, slice, slices);
    const { effect, value } = addPart(
      decision,
      id,
      names,
      (decisionId) => ({
        id: decisionId,
        slice,
        changed: input.changed ?? [],
        ...madeNow(at),
        what: input.what,
        why: input.why,
      }),
      firstLine(input.what, 80),
    );
    return { data: { decision: value }, effects: [effect] };
  },

  text: ({ decision: value }, style) => `${style.bold(value.id)} ${firstLine(value.what)}`,
});
