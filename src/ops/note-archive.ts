import * as z from "zod/mini";
import { change } from "../judge/change.ts";
import { getNote } from "../judge/notes.ts";
import { flag, line } from "../model/input.ts";
import { note } from "../model/records/parts.ts";
import { operation } from "./operation.ts";

export const noteArchive = operation({
  id: "note.archive",
  summary: "Archive a note: lists leave it out, and nothing is deleted",
  examples: ["pawl note archive N0001", "pawl note archive N0001 --undo"],
  access: "write",
  cli: { positional: ["note"] },
  input: z.strictObject({ note: line("the note", "N", 40), undo: flag("bring it back") }),
  milestone: ({ note: value }) => `${value.id}: ${value.archived ? "archived" : "back from the archive"}`,

  gather: (reader, input) => ({ stored: getNote(reader, input.note) }),

  decide(input, { stored }, at) {
    const archived = !input.undo;
    if (stored.value.archived === archived) return { data: { note: stored.value } };
    const about = archived ? "archived" : "back from the archive";
    const { effect, value } = change(note, stored, { archived }, at, about);
    return { data: { note: value }, effects: [effect] };
  },

  text: ({ note: value }, style) => `${style.bold(value.id)} ${value.archived ? "archived" : "not archived"}`,
});
