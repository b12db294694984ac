import * as z from "zod/mini";
import { madeNow } from "../judge/change.ts";
import { formatNoteId, nextNumber } from "../model/ids.ts";
import { line, many, maybe, prose, raw } from "../model/input.ts";
import { noteFile } from "../model/paths.ts";
import { printRecord } from "../model/record.ts";
import { type Note, note } from "../model/records/parts.ts";
import { operation } from "./operation.ts";

export const noteAdd = operation({
  id: "note.add",
  summary: "Keep knowledge that belongs to no single task",
  examples: ['pawl note add "How releases are made" --text "Tag first, then publish" --label release'],
  access: "write",
  cli: { positional: ["title"] },
  input: z.strictObject({
    title: line("what it is about", "TITLE"),
    text: maybe(prose("the note itself")),
    label: many(line("a word to find it by", "LABEL", 60)),
    about: many(raw("a file it is about", "PATH")),
  }),
  milestone: ({ note: value }) => `${value.id}: ${value.title}`,

  gather: (reader) => ({ names: reader.noteNames() }),

  decide(input, { names }, at) {
    const value: Note = {
      id: formatNoteId(nextNumber(names, "N")),
      title: input.title,
      labels: [...new Set(input.label ?? [])],
      files: input.about ?? [],
      ...madeNow(at),
      text: input.text ?? "",
    };
    const path = noteFile(value.id);
    return {
      data: { note: value },
      effects: [
        { do: "create", record: value.id, rev: 1, path, text: printRecord(note, value), about: value.title },
      ],
    };
  },

  text: ({ note: value }, style) => `${style.bold(value.id)} ${value.title}`,
});
