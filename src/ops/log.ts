import * as z from "zod/mini";
import { parseTaskId } from "../model/ids.ts";
import { count, maybe, taskField } from "../model/input.ts";
import { columns, firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";

const USUAL = 50;

export const log = operation({
  id: "log",
  summary: "Show what happened, when and by whom; for git actions before, after and failed",
  details:
    "Every change of a record is an event, and everything that pawl does to a repository is one before and one after it, or\none that says why it failed. A `before` without an `after` was killed; the next command finishes or undoes it. Oldest first.",
  examples: ["pawl log", "pawl log T0001 --limit 200", "pawl log --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    limit: maybe(count(`how many of the latest (default: ${USUAL})`)),
  }),

  gather(reader, input) {
    const task = input.task === undefined ? undefined : parseTaskId(input.task);
    // Somebody who mistypes the id should not read that nothing ever happened.
    if (task !== undefined) reader.taskText(task);
    return { events: reader.events({ task, limit: input.limit ?? USUAL }) };
  },

  decide: (_input, { events }) => ({ data: { events } }),

  text: ({ events }, style) =>
    columns(
      events.map((one) => [
        style.dim(one.time.replace(/\.\d+Z$/, "Z")),
        `${one.event}${one.phase ? ` ${one.phase === "failed" ? style.red(one.phase) : style.cyan(one.phase)}` : ""}`,
        style.bold(one.record),
        firstLine(one.about, 70),
        style.dim(one.actor),
      ]),
    ),
});
