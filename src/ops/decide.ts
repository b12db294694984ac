import * as z from "zod/mini";
import { addPart, madeNow } from "../judge/change.ts";
import { getNote, supersede } from "../judge/notes.ts";
import { getOwnTask } from "../judge/own-task.ts";
import { oneTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parsePartRef } from "../model/ids.ts";
import { flag, line, many, maybe, prose, raw, taskField } from "../model/input.ts";
import { type Decision, decision, type Note } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { createNote } from "./note-add.ts";
import { operation } from "./operation.ts";
import { noSlice } from "./slice-close.ts";

/** One of them: a decision of a task is a record of its own, any other is a note. */
interface Decided {
  decision?: Decision;
  note?: Note;
}

const input = z.strictObject({
  what: prose("what was decided"),
  why: prose("the reason"),
  changed: many(raw("a file it changed", "FILE")),
  slice: maybe(line("the slice it belongs to", "S", 40)),
  effort: maybe(line("it belongs to all tasks with this label", "LABEL", 60)),
  general: flag("it belongs to no task"),
  supersedes: many(line("an older decision of this kind that it replaces", "N", 40)),
  task: taskField(),
});
type Input = z.output<typeof input>;

export const decide = operation({
  id: "decide",
  summary: "Record a decision and the reason for it",
  details:
    "It belongs to the task you are in. A decision that belongs to no single task is kept as a note (`pawl note\nlist`): --effort names a label that several tasks share, so that each of them finds it in its context;\n--general makes it the whole project's. Like any note, it can be edited, archived and superseded.",
  examples: [
    'pawl decide "Keep the old format readable" --why "users have files from 2019"',
    'pawl decide "Amounts are integers" --why "no rounding" --effort payments',
    'pawl decide "Node 20 at least" --why "18 is out of support" --general --supersedes N0001',
  ],
  access: "write",
  cli: { positional: ["what"] },
  input,

  gather: (reader, input, at) =>
    input.effort === undefined && !input.general
      ? { inTask: taskFacts(reader, input, at) }
      : { loose: looseFacts(reader, input) },

  decide: (input, facts, at): Plan<Decided> =>
    facts.loose ? decideLoose(input, facts.loose, at) : decideInTask(input, facts.inTask, at),

  text: ({ decision: value, note: loose }, style) =>
    value
      ? `${style.bold(value.id)} ${firstLine(value.what)}`
      : `${style.bold(loose?.id ?? "")} ${loose?.title}`,
});

function taskFacts(reader: Reader, input: Input, at: Situation) {
  if (input.supersedes !== undefined)
    throw new Failure(
      "usage",
      "not_of_a_task",
      "A task's decisions are not replaced; the latest one counts.",
      {
        hint: "--supersedes goes with --effort or --general.",
        details: { field: "supersedes" },
      },
    );
  const ref = input.slice === undefined ? undefined : parsePartRef(input.slice, "S", "slice");
  const id = getOwnTask(reader, oneTask(ref?.task, input.task), at);
  const { slices } = reader.task(id).value;
  return { id, slices, slice: ref?.part, names: reader.partNames(decision, id) };
}

function decideInTask(
  input: Input,
  { id, slices, slice, names }: ReturnType<typeof taskFacts>,
  at: Situation,
): Plan<Decided> {
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
}

function looseFacts(reader: Reader, input: Input) {
  const field = input.task === undefined ? "slice" : "task";
  if (input[field] !== undefined)
    throw new Failure("usage", "of_no_task", `--${field} cannot be combined with --effort or --general.`, {
      hint: "A decision belongs to one task, to the tasks of an effort, or to none.",
      details: { field },
    });
  return {
    names: reader.noteNames(),
    older: (input.supersedes ?? []).map((one) => getNote(reader, one, "supersedes")),
  };
}

function decideLoose(
  input: Input,
  { names, older }: ReturnType<typeof looseFacts>,
  at: Situation,
): Plan<Decided> {
  const title = firstLine(input.what, 300);
  const { value, effect } = createNote(names, at, {
    title,
    kind: "decision",
    labels: input.effort === undefined ? [] : [input.effort],
    files: input.changed ?? [],
    text: title === input.what ? "" : input.what,
    why: input.why,
  });
  return { data: { note: value }, effects: [effect, ...supersede(older, value.id, at)] };
}
