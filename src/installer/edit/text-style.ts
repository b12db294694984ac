import type { Edit, Range } from "./types.ts";

const BYTE_ORDER_MARK = "\ufeff";

export function splitMark(text: string): { mark: string; text: string } {
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, text: text.slice(1) }
    : { mark: "", text };
}

/** The first line end decides; a file with both kinds has no better answer. */
export function newlineOf(text: string): string {
  const at = text.indexOf("\n");
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}

/** The white space that the line of this position begins with. */
export function indentAt(text: string, offset: number): string {
  const line = lineStart(text, offset);
  return /^[ \t]*/.exec(text.slice(line, offset))?.[0] ?? "";
}

export function beginsItsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "";
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** What has to stand before something appended that wants an empty line above it. */
export function gapBefore(text: string, newline: string): string {
  if (text.trim() === "") return "";
  if (!text.endsWith("\n")) return newline + newline;
  return /\n\r?\n$/.test(text) ? "" : newline;
}

const REST_OF_LINE = /^[ \t]*(?:\r?\n|$)/;

/** Cuts out lines, with the empty line above them where two would follow each other or one would end the file. */
export function wholeLines(text: string, { start, end }: Range): Edit {
  const from = lineStart(text, start);
  const rest = REST_OF_LINE.exec(text.slice(end))?.[0];
  // Something else is on these lines, which stays where it is.
  if (rest === undefined || text.slice(from, start).trim() !== "") return { start, end, text: "" };
  const until = end + rest.length;
  const gapBelow = REST_OF_LINE.exec(text.slice(until))?.[0];
  if (gapBelow === undefined) return { start: from, end: until, text: "" };
  if (from === 0) return { start: from, end: until + gapBelow.length, text: "" };
  const gapAbove = /\n([ \t]*\r?\n)$/.exec(text.slice(0, from))?.[1] ?? "";
  return { start: from - gapAbove.length, end: until, text: "" };
}

/** A line and a column as editors count them. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - lineStart(text, offset) + 1 };
}
