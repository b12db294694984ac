import * as z from "zod/mini";
import { findRun } from "../judge/current-run.ts";
import { checkMeaning, checkRepositories, retarget } from "../judge/target.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { shorten } from "../model/ids.ts";
import { taskField } from "../model/input.ts";
import { checkTransition } from "../model/lifecycle.ts";
import { taskFile } from "../model/paths.ts";
import { editRecord } from "../model/record.ts";
import { run } from "../model/records/run.ts";
import { task } from "../model/records/task.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const taskEdit = operation({
  id: "task.edit",
  summary: "Edit a task's record in your editor, and check it afterwards",
  details:
    "Opens VISUAL or EDITOR on a copy. What you save is taken over only if it is a correct record and nobody else\nchanged the task meanwhile; otherwise your text is kept and you are told where.",
  examples: ["pawl task edit T0001"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),
  milestone: ({ task: value }) => `${value.id}: edited, rev ${value.rev}`,

  rehearse: async (_world, input, at, reader) => [
    { do: "edit", path: taskFile(getTask(reader, input.task, at)) },
  ],

  async observe(world, input, at, reader) {
    const id = getTask(reader, input.task, at);
    const before = reader.taskText(id);
    const edited = await world.edit(`${id}.md`, before);
    return { id, before, edited };
  },

  gather: (reader, _input, _at, { id, before, edited }) => ({
    id,
    before,
    edited,
    now: reader.taskText(id),
    draft: checked(reader, id, edited),
    was: readable(reader, id, before),
    current: findRun(reader, id),
    begun: reader.partNames(run, id).length > 0,
  }),

  decide(_input, { id, before, edited, now, draft, was, current, begun }, at) {
    if (now !== before)
      throw new Failure("conflict", "changed_meanwhile", `${id} was changed while you edited it.`, {
        hint: `Your text is in ${edited.kept}; bring it over with \`pawl task edit ${id}\`.`,
        details: { kept: edited.kept },
      });
    if (draft.text === before) return { data: { task: draft.value } };
    if (was) {
      checkTransition(id, was.status, draft.value.status);
      checkMeaning(was, draft.value, begun, at.actor);
      checkRepositories(was, draft.value, current);
    }
    // A rev that was set back by hand must not be given out a second time.
    const rev = Math.max(draft.value.rev, was?.rev ?? 0) + 1;
    const plan_digest = draft.value.plan === "" ? undefined : at.sha256(draft.value.plan);
    const changes = { rev, updated: at.now, plan_digest };
    const text = editRecord(task, draft, changes);
    return {
      data: { task: { ...draft.value, ...changes } },
      effects: [
        { do: "replace", record: id, rev, path: draft.path, before, text, about: "edited by hand" },
        ...(was ? retarget(current, was, draft.value, at) : []),
      ],
    };
  },

  text: ({ task: value }, style) => `${style.bold(value.id)} rev ${value.rev}: ${shorten(value.title, 80)}`,
});

/** What the record said before; undefined for one that is being repaired. */
function readable(reader: Reader, id: string, text: string) {
  try {
    return reader.parse(task, taskFile(id), text, `${id}.md`).value;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** A record that would not be readable afterwards is refused while the text is still in the user's hands. */
function checked(reader: Reader, id: string, edited: { text: string; kept: string }) {
  const keep = (error: Failure) =>
    new Failure("refused", "broken_edit", error.message, {
      hint: `${error.hint ?? ""} Nothing was changed; your text is in ${edited.kept}.`.trim(),
      details: { ...error.details, kept: edited.kept },
    });
  try {
    const draft = reader.parse(task, taskFile(id), edited.text, `${id}.md`);
    if (draft.value.id === id) return draft;
    throw new Failure("refused", "broken_edit", `The id of ${id} cannot be changed to ${draft.value.id}.`);
  } catch (error) {
    throw error instanceof Failure ? keep(error) : error;
  }
}
