import * as z from "zod/mini";
import { findRun } from "../judge/current-run.ts";
import { doubtsAbout, isAppendOnly } from "../judge/gates/integrity.ts";
import { recordTexts } from "../judge/record-texts.ts";
import { checkMeaning, checkRepositories, retarget } from "../judge/target.ts";
import { getTask } from "../judge/which-task.ts";
import { humanOnly, isShownHuman } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import { shorten } from "../model/ids.ts";
import { flag, taskField } from "../model/input.ts";
import { checkTransition } from "../model/lifecycle.ts";
import { taskFile } from "../model/paths.ts";
import { editRecord, type Kind, type Stored } from "../model/record.ts";
import { kindOfPath } from "../model/records/kind-of-path.ts";
import { run } from "../model/records/run.ts";
import { task } from "../model/records/task.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const taskEdit = operation({
  id: "task.edit",
  summary: "Edit a task's record in your editor; pawl checks what you save",
  details:
    "Opens VISUAL or EDITOR on a copy. What you save is accepted only if it is a valid record and nobody else\nchanged the task in the meantime; otherwise your text is kept and you are told where. Records edited with\nanother program count for no gate until a human adopts them: --adopt takes the task's records as they are, in\nyour name. Evidence and reviews cannot be adopted.",
  examples: ["pawl task edit T0001", "pawl task edit T0001 --adopt"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), adopt: flag("accept records that were edited by hand") }),
  milestone: ({ task: value }) => `${value.id}: edited, rev ${value.rev}`,

  rehearse: async (_world, input, at, reader) => [
    { do: "edit", path: taskFile(getTask(reader, input.task, at)) },
  ],

  async observe(world, input, at, reader) {
    const id = getTask(reader, input.task, at);
    const before = reader.taskText(id);
    if (input.adopt && !isShownHuman(at))
      throw humanOnly(`adopt a hand edit of ${id}`, at, { field: "adopt" });
    const edited = input.adopt ? { text: before, kept: taskFile(id) } : await world.edit(`${id}.md`, before);
    return { id, before, edited };
  },

  gather: (reader, input, at, { id, before, edited }) => ({
    adopted: handEdited(reader, id, at).filter((one) => input.adopt || one.path === taskFile(id)),
    id,
    before,
    edited,
    now: reader.taskText(id),
    draft: checked(reader, id, edited),
    was: readable(reader, task, taskFile(id), before)?.value,
    current: findRun(reader, id),
    begun: reader.partNames(run, id).length > 0,
  }),

  decide(_input, { id, before, edited, now, draft, was, current, begun, adopted }, at) {
    if (now !== before)
      throw new Failure("conflict", "changed_meanwhile", `${id} was changed while you edited it.`, {
        hint: `Your text is in ${edited.kept}; apply it with \`pawl task edit ${id}\`.`,
        details: { kept: edited.kept },
      });
    const others = adopted.filter((one) => one.path !== draft.path).map((one) => adopt(one, at));
    const isAdopting = isShownHuman(at) && adopted.some((one) => one.path === draft.path);
    if (draft.text === before && !isAdopting)
      return { data: { task: draft.value, adopted: others.map((one) => one.record) }, effects: others };
    if (was) {
      checkTransition(id, was.status, draft.value.status);
      checkMeaning(was, draft.value, begun, at);
      checkRepositories(was, draft.value, current);
    }
    // A rev that was set back by hand must not be given out a second time.
    const rev = Math.max(draft.value.rev, was?.rev ?? 0) + 1;
    const plan_digest = draft.value.plan === "" ? undefined : at.sha256(draft.value.plan);
    const changes = { rev, updated: at.now, plan_digest };
    const text = editRecord(task, draft, changes);
    return {
      data: {
        task: { ...draft.value, ...changes },
        adopted: [...(isAdopting ? [id] : []), ...others.map((one) => one.record)],
      },
      effects: [
        ...others,
        { do: "replace", record: id, rev, path: draft.path, before, text, about: "edited by hand" },
        ...(was ? retarget(current, was, draft.value, at) : []),
      ],
    };
  },

  text: ({ task: value, adopted }, style) =>
    [
      `${style.bold(value.id)} rev ${value.rev}: ${shorten(value.title, 80)}`,
      ...(adopted.length > 0 ? [`adopted as they are: ${adopted.join(", ")}`] : []),
    ].join("\n"),
});

/** The records of a task that the log does not bear out, as far as a person may adopt them. */
function handEdited(reader: Reader, id: string, at: Situation): Stored<Kind>[] {
  const texts = recordTexts(reader, id);
  const events = reader.events({ task: id, limit: Number.POSITIVE_INFINITY });
  const records = texts.map(({ path, text }) => ({ path, text: at.sha256(text) }));
  return doubtsAbout(events, records)
    .filter((one) => one.why !== "missing" && !isAppendOnly(one.path))
    .flatMap(({ path }) => {
      const [kind, text] = [kindOfPath(path), texts.find((one) => one.path === path)?.text];
      return kind && text !== undefined ? (readable(reader, kind, path, text) ?? []) : [];
    });
}

function adopt(stored: Stored<Kind>, at: Situation): Effect & { do: "replace" } {
  const { id, rev: before } = stored.value as unknown as { id: string; rev: number };
  const rev = before + 1;
  const text = editRecord(kindOfPath(stored.path) as Kind, stored, { rev, updated: at.now } as never);
  return {
    do: "replace",
    record: id,
    rev,
    path: stored.path,
    before: stored.text,
    text,
    about: "adopted a hand edit",
  };
}

/** What a record says; undefined for one that has to be repaired. */
function readable<K extends Kind>(
  reader: Reader,
  kind: K,
  path: string,
  text: string,
): Stored<K> | undefined {
  try {
    return reader.parse(kind, path, text, path);
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
