import * as z from "zod/mini";
import { addPart, madeNow } from "../judge/change.ts";
import { runOf } from "../judge/current-run.ts";
import { getTask } from "../judge/which-task.ts";
import { many, maybe, prose, raw, taskField } from "../model/input.ts";
import { handoff as kind } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";

export const handoff = operation({
  id: "handoff",
  summary: "Leave the task so that anybody can go on: what, evidence, blocker, next",
  details: "Also for work that failed: what did not work is what the next one needs most.",
  examples: [
    'pawl handoff --what "Retries work, backoff does not" --changed src/upload.ts --validation "npm test: 1 failed" --next "make the backoff test pass"',
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    what: prose("what was done, and what was not"),
    changed: many(raw("a file that changed", "FILE")),
    validation: many(prose("a check and its result", "RESULT")),
    blocker: maybe(prose("what stands in the way")),
    next: prose("the very next step"),
  }),
  milestone: ({ handoff: value }) => `${value.id}: ${firstLine(value.what, 60)}`,

  gather(reader, input, at) {
    const id = getTask(reader, input.task, at);
    reader.task(id);
    return { id, run: runOf(reader, id, at), names: reader.partNames(kind, id) };
  },

  decide(input, { id, run, names }, at) {
    const { effect, value } = addPart(
      kind,
      id,
      names,
      (handoffId) => ({
        id: handoffId,
        run,
        automatic: false,
        from_commits: false,
        changed: input.changed ?? [],
        validation: input.validation ?? [],
        ...madeNow(at),
        what: input.what,
        blocker: input.blocker ?? "",
        next: input.next,
      }),
      firstLine(input.what, 80),
    );
    return { data: { handoff: value }, effects: [effect] };
  },

  text: ({ handoff: value }, style) =>
    `${style.bold(value.id)} ${firstLine(value.what)}\nnext: ${firstLine(value.next)}`,
});
