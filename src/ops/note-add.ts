import * as z from "zod/mini";
import { madeNow } from "../judge/change.ts";
import { getNote, supersede } from "../judge/notes.ts";
import { formatNoteId, nextNumber } from "../model/ids.ts";
import { line, many, maybe, prose, raw } from "../model/input.ts";
import { noteFile } from "../model/paths.ts";
import { printRecord } from "../model/record.ts";
import { type Note, note } from "../model/records/parts.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import { operation } from "./operation.ts";

export const noteAdd = operation({
  id: "note.add",
  summary: "Keep knowledge that belongs to no single task",
  details:
    "With --supersedes the older note stays and says which one replaces it; lists and context packets leave it out.",
  examples: [
    'pawl note add "How releases are made" --text "Tag first, then publish" --label release',
    'pawl note add "How releases are made since May" --text "CI publishes" --supersedes N0001',
  ],
  access: "write",
  cli: { positional: ["title"], texts: ["text"] },
  input: z.strictObject({
    title: line("what it is about", "TITLE"),
    text: maybe(prose("the note itself")),
    label: many(line("a word to find it by", "LABEL", 60)),
    about: many(raw("a file it is about", "PATH")),
    supersedes: many(line("an older note that this one replaces", "N", 40)),
  }),
  milestone: ({ note: value }) => `${value.id}: ${value.title}`,

  gather: (reader, input) => ({
    names: reader.noteNames(),
    older: (input.supersedes ?? []).map((one) => getNote(reader, one, "supersedes")),
  }),

  decide(input, { names, older }, at) {
    const { value, effect } = createNote(names, at, {
      title: input.title,
      kind: "note",
      labels: [...new Set(input.label ?? [])],
      files: input.about ?? [],
      text: input.text ?? "",
      why: "",
    });
    return { data: { note: value }, effects: [effect, ...supersede(older, value.id, at)] };
  },

  text: ({ note: value }, style) => `${style.bold(value.id)} ${value.title}`,
});

/** A note under the next free number. */
export function createNote(
  names: readonly string[],
  at: Situation,
  said: Pick<Note, "title" | "kind" | "labels" | "files" | "text" | "why">,
): { value: Note; effect: Effect } {
  const id = formatNoteId(nextNumber(names, "N"));
  const value: Note = { id, ...said, archived: false, superseded_by: undefined, ...madeNow(at) };
  const text = printRecord(note, value);
  return {
    value,
    effect: { do: "create", record: id, rev: 1, path: noteFile(id), text, about: value.title },
  };
}
