import { cutOut } from "./blocks.ts";
import { applyEdits } from "./splice.ts";
import { newlineOf, splitMark } from "./text-style.ts";
import { findTable, roomFor } from "./toml-lines.ts";
import { printTables } from "./toml-print.ts";
import type { Edit, Entry, Inserted } from "./types.ts";

/** What version 0.1.0 put into a TOML file: without marks, known by its words alone, which the ledger has. */
interface Unmarked {
  entries: readonly Entry[];
  inserted: Inserted;
}

/**
 * Takes it out. `text` is undefined when the file was made for it and holds nothing else. The whole answer is undefined
 * when somebody changed it or added to it: then nobody can say what of it is ours.
 */
export function removeUnmarked(
  before: string,
  { entries, inserted }: Unmarked,
): { text: string | undefined; exact: boolean } | undefined {
  if (entries.length === 0) return { text: before, exact: true };
  const { mark, text } = splitMark(before);
  const newline = newlineOf(text);
  const [piece = printTables(entries, newline), comma] = inserted.pieces
    .map((one) => one.replaceAll(/\r?\n/g, newline))
    .reverse();
  const words = piece.trim();
  const start = text.indexOf(words);
  const end = start + words.length;
  if (start < 0)
    return entries.every(({ at }) => roomFor(text, at)) ? { text: before, exact: true } : undefined;
  if (text.includes(words, start + 1) || (words.startsWith("[") && !endsTable(text.slice(end))))
    return undefined;
  const { edit, exact } = cutOut(text, { start, end }, { ...inserted, pieces: [piece] });
  const result = applyEdits(text, [edit, ...(comma === undefined ? [] : commaBefore(text, edit.start))]);
  if (entries.some(({ at }) => findTable(result, at))) return undefined;
  const nothing = inserted.created && result.trim() === "";
  return { text: nothing ? undefined : mark + result, exact };
}

/** A key below ours would belong to the table above it once ours is gone. */
function endsTable(below: string): boolean {
  const [rest = "", ...lines] = below.split("\n").map((line) => line.trim());
  const next = [rest, ...lines].find((line) => line !== "" && !line.startsWith("#"));
  return next === undefined || (next !== rest && next.startsWith("["));
}

/** The comma that was put after the user's last value, with comments between it and ours. */
function commaBefore(text: string, offset: number): Edit[] {
  const at = text.slice(0, offset).search(/,(?:[ \t\r\n]|#[^\n]*\n)*(?:#[^\n]*)?$/);
  return at < 0 ? [] : [{ start: at, end: at + 1, text: "" }];
}
