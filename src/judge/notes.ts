import { Failure } from "../model/failure.ts";
import { formatNoteId, shorten } from "../model/ids.ts";
import type { Stored } from "../model/record.ts";
import { type Note, note } from "../model/records/parts.ts";
import type { Reader } from "../ports/ports.ts";
import { change } from "./change.ts";

/** Neither archived nor superseded. */
export const isCurrent = (one: Note) => !one.archived && one.superseded_by === undefined;

/** People type `N7`; records always say `N0007`. */
export function getNote(reader: Reader, wanted: string, field = "note"): Stored<typeof note> {
  const number = Number(/^n?0*(\d{1,9})$/i.exec(wanted.trim())?.[1] ?? 0);
  if (number === 0)
    throw new Failure("usage", "bad_note_id", `"${shorten(wanted)}" is not a note id.`, {
      hint: "A note id looks like N0007 or N7. `pawl note list` shows them.",
      details: { field },
    });
  const id = formatNoteId(number);
  const { records, problems } = reader.notes();
  const found = records.find((one) => one.value.id === id);
  if (found) return found;
  const broken = problems.find((one) => one.file.endsWith(`/${id}.md`));
  if (broken)
    throw new Failure("unreadable", "broken_record", broken.message, {
      ...(broken.hint === undefined ? {} : { hint: broken.hint }),
      details: { file: broken.file },
    });
  throw new Failure("not_found", "no_note", `There is no note ${id}.`, {
    hint: "`pawl note list --all` shows all of them.",
    details: { note: id },
  });
}

/** Marks older notes as superseded by another one. */
export function supersede(older: readonly Stored<typeof note>[], by: string, at: { now: string }) {
  return older.map((one) => change(note, one, { superseded_by: by }, at, `superseded by ${by}`).effect);
}
