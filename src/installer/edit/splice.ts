import { applyEdits as applyJsonEdits } from "jsonc-parser";
import type { JsonDocument } from "./json-document.ts";
import type { Edit, Range } from "./types.ts";

/** In any order; edits that overlap are a bug of ours, and thrown. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return applyJsonEdits(
    text,
    edits.map(({ start, end, text: content }) => ({ offset: start, length: end - start, content })),
  );
}

function inOrder<T extends Range>(ranges: readonly T[]): T[] {
  return [...ranges].sort((one, other) => one.start - other.start);
}

/**
 * Where our pieces lie after the edits. What is put in outside of them becomes one more piece; undefined when
 * something else than a piece was changed, because then the pieces no longer tell what the file was.
 */
export function follow(pieces: readonly Range[], edits: readonly Edit[]): Range[] | undefined {
  const isInside = (edit: Edit) =>
    pieces.some(({ start, end }) => start <= edit.start && edit.end <= end && edit.end > start);
  const outside = edits.filter((edit) => !isInside(edit));
  if (outside.some((edit) => edit.start !== edit.end)) return undefined;
  const old = pieces.map(({ start, end }) => ({ start: moved(start, edits), end: moved(end, edits) }));
  const added = outside.map((edit) => {
    const end = moved(edit.start, edits);
    return { start: end - edit.text.length, end };
  });
  return inOrder([...old, ...added]).filter(({ start, end }) => start < end);
}

/** Where a position lies after the edits; what they put there comes before it. */
function moved(offset: number, edits: readonly Edit[]): number {
  const before = edits.filter((edit) => edit.end <= offset);
  return offset + before.reduce((sum, edit) => sum + edit.text.length - (edit.end - edit.start), 0);
}

/**
 * Finds the pieces that were put in, each around one of our places, never by looking for its text anywhere else.
 * Undefined: at least one of them has changed since it was written.
 */
export function locate(
  document: JsonDocument,
  pieces: readonly string[],
  places: readonly Range[],
): Range[] | undefined {
  const found: Range[] = [];
  for (const piece of [...pieces].reverse()) {
    const next = found[0];
    const range =
      piece === "," && next ? document.commaBefore(next.start) : around(document.text, piece, places);
    if (!range || (next && range.end > next.start)) return undefined;
    found.unshift(range);
  }
  return found;
}

function around(text: string, piece: string, places: readonly Range[]): Range | undefined {
  for (const place of places) {
    const ours = text.slice(place.start, place.end);
    for (let at = piece.indexOf(ours); at >= 0; at = piece.indexOf(ours, at + 1)) {
      const start = place.start - at;
      // A line end that was changed since begins before the piece does.
      const split = piece.startsWith("\n") && text[start - 1] === "\r";
      if (start >= 0 && !split && text.startsWith(piece, start)) return { start, end: start + piece.length };
    }
  }
  return undefined;
}
