import * as z from "zod/mini";
import { isCurrent } from "../judge/notes.ts";
import { flag, line, many } from "../model/input.ts";
import type { Note } from "../model/records/parts.ts";
import { columns, firstLine, warningsOf } from "../model/text.ts";
import { operation } from "./operation.ts";

export const noteList = operation({
  id: "note.list",
  summary: "List notes, and decisions that belong to no task",
  details: "Leaves out archived and superseded ones unless you say --all.",
  examples: ["pawl note list", "pawl note list --label release --json", "pawl note list --all"],
  access: "read",
  input: z.strictObject({
    label: many(line("only notes with this label", "LABEL", 60)),
    all: flag("include archived and superseded ones"),
  }),

  gather: (reader) => reader.notes(),

  decide(input, { records, problems }) {
    const notes = records
      .map((record) => record.value)
      .filter((note) => input.all || isCurrent(note))
      .filter((note) => (input.label ?? []).every((label) => note.labels.includes(label)));
    return { data: { notes }, warnings: warningsOf(problems) };
  },

  text: ({ notes }, style) =>
    notes.length === 0
      ? "no notes"
      : columns(
          notes.map((note) => [
            style.bold(note.id),
            note.title,
            style.dim([standing(note), firstLine(note.text || note.why, 60)].filter(Boolean).join(" · ")),
          ]),
        ),
});

function standing({ kind, archived, superseded_by }: Note): string {
  if (superseded_by !== undefined) return `superseded by ${superseded_by}`;
  if (archived) return "archived";
  return kind === "decision" ? "decision" : "";
}
