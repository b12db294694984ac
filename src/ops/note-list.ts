import * as z from "zod/mini";
import { line, many } from "../model/input.ts";
import { columns, firstLine, warningsOf } from "../model/text.ts";
import { operation } from "./operation.ts";

export const noteList = operation({
  id: "note.list",
  summary: "List notes",
  examples: ["pawl note list", "pawl note list --label release --json"],
  access: "read",
  input: z.strictObject({ label: many(line("only notes with this label", "LABEL", 60)) }),

  gather: (reader) => reader.notes(),

  decide(input, { records, problems }) {
    const notes = records
      .map((record) => record.value)
      .filter((note) => (input.label ?? []).every((label) => note.labels.includes(label)));
    return { data: { notes }, warnings: warningsOf(problems) };
  },

  text: ({ notes }, style) =>
    notes.length === 0
      ? "no notes"
      : columns(notes.map((note) => [style.bold(note.id), note.title, style.dim(firstLine(note.text, 60))])),
});
