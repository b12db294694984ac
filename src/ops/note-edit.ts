import * as z from "zod/mini";
import { change, checkRev, nothingToChange } from "../judge/change.ts";
import { getNote } from "../judge/notes.ts";
import { shorten } from "../model/ids.ts";
import { count, line, many, maybe, prose, raw } from "../model/input.ts";
import type { ChangesOf } from "../model/record.ts";
import { note } from "../model/records/parts.ts";
import { operation } from "./operation.ts";

const input = z.strictObject({
  note: line("the note", "N", 40),
  title: maybe(line("a better title", "TITLE")),
  text: maybe(prose("the note itself")),
  label: many(line("a word to find it by", "LABEL", 60)),
  about: many(raw("a file it is about", "PATH")),
  rev: maybe(count("the rev you read", "N")),
});
type Input = z.output<typeof input>;

export const noteEdit = operation({
  id: "note.edit",
  summary: "Change a note",
  details:
    "Changes only what you name. --label and --about replace the whole list; an empty value clears it. With --rev\nthe change is refused if somebody else changed the note first.",
  examples: [
    'pawl note edit N0001 --text "CI publishes what is tagged" --label release',
    "pawl note edit N0001 --text-file release.md --rev 1",
  ],
  access: "write",
  cli: { positional: ["note"], texts: ["text"], clears: ["label", "about"] },
  input,
  milestone: ({ note: value }) => `${value.id}: edited, rev ${value.rev}`,

  gather: (reader, input) => ({ stored: getNote(reader, input.note) }),

  decide(input, { stored }, at) {
    const { value: current } = stored;
    checkRev(current, input.rev, "pawl note list --json");
    const changes = named(input);
    const names = Object.keys(changes);
    if (names.length === 0)
      throw nothingToChange(current.id, `For example: pawl note edit ${current.id} --text-file FILE`);
    const { effect, value } = change(note, stored, changes, at, `edited: ${names.join(", ")}`);
    return { data: { note: value }, effects: [effect] };
  },

  text: ({ note: value }, style) => `${style.bold(value.id)} rev ${value.rev}: ${shorten(value.title, 80)}`,
});

function named(input: Input): ChangesOf<typeof note> {
  const changes: ChangesOf<typeof note> = {};
  if (input.title !== undefined) changes.title = input.title;
  if (input.text !== undefined) changes.text = input.text;
  if (input.label !== undefined) changes.labels = [...new Set(input.label)];
  if (input.about !== undefined) changes.files = input.about;
  return changes;
}
