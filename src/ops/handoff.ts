import * as z from "zod/mini";
import { childLines } from "../flows/run/run-children.ts";
import { addPart, madeNow } from "../judge/change.ts";
import { runOf } from "../judge/current-run.ts";
import { getOwnTask } from "../judge/own-task.ts";
import { validationsOf } from "../judge/validation.ts";

import { many, maybe, prose, raw, taskField } from "../model/input.ts";
import { evidence, handoff as kind } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";

/** The next reader reads all of it: a log belongs in a file, a check's output in evidence. */
const MOST = 2_000;

/** Asked for a blocker, people and agents write that there is none. */
const isNone = (text: string | undefined) =>
  /^(?:none|no|nothing|n\/a|-+|no blockers?)[.!]?$/i.test(text?.trim() ?? "none");

export const handoff = operation({
  id: "handoff",
  summary: "Leave the task so that anybody can continue: what, evidence, blocker, next",
  details:
    "Leave one for work that failed, too: what did not work is what the next person needs most. A --validation that\nbegins with the id of evidence (E2: …) is shown with what pawl saw; any other is shown as a claim. Each text\nhas at most 2,000 characters, and `--blocker none` means that there is none.",
  examples: [
    'pawl handoff --what "Retries work, backoff does not" --changed src/upload.ts --validation "E2: npm test, 1 failed" --next "make the backoff test pass"',
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    what: prose("what was done, and what was not", "TEXT", MOST),
    changed: many(raw("a file that changed", "FILE")),
    validation: many(prose("a check and its result", "RESULT", MOST)),
    blocker: maybe(prose("what is blocking the work", "TEXT", MOST)),
    next: prose("the next step", "TEXT", MOST),
  }),
  milestone: ({ handoff: value }) => `${value.id}: ${firstLine(value.what, 60)}`,

  gather(reader, input, at) {
    const id = getOwnTask(reader, input.task, at);
    reader.task(id);
    const proofs = reader.parts(evidence, id).records.map((one) => one.value);
    const run = runOf(reader, id, at);
    return { id, run, children: childLines(reader, run), names: reader.partNames(kind, id), proofs };
  },

  decide(input, { id, run, children, names, proofs }, at) {
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
        children,
        ...madeNow(at),
        what: input.what,
        blocker: isNone(input.blocker) ? "" : (input.blocker ?? ""),
        next: input.next,
      }),
      firstLine(input.what, 80),
    );
    const claims = validationsOf(value, proofs).filter((one) => one.evidence === undefined);
    return {
      data: { handoff: value },
      effects: [effect],
      warnings: claims.map(
        ({ line }) =>
          `"${firstLine(line, 80)}" does not name evidence of ${id}, so it is shown as a claim. Name the record that pawl verify made: --validation "E1: …"`,
      ),
    };
  },

  text: ({ handoff: value }, style) =>
    [
      `${style.bold(value.id)} ${firstLine(value.what)}`,
      ...value.children.map((one: string) => `  ${one}`),
      `next: ${firstLine(value.next)}`,
    ].join("\n"),
});
