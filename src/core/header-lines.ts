import type { InlineValue } from "./header-inline.ts";

/** Replaces `remove` lines from `at` on by `insert`. */
export interface LineEdit {
  at: number;
  remove: number;
  insert: readonly string[];
}

/**
 * Edits must not overlap; an insertion may stand right after a removal. Inserted lines that were edited bring their
 * own line break, new ones get `eol`.
 */
export function applyLineEdits(lines: readonly string[], edits: readonly LineEdit[], eol: string): string[] {
  const result = [...lines];
  for (const edit of edits.toSorted((a, b) => b.at - a.at)) {
    const insert = edit.insert.map((line) => (line.endsWith("\n") ? line : line + eol));
    result.splice(edit.at, edit.remove, ...insert);
  }
  return result;
}

export function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

export function withoutEol(line: string): string {
  return line.replace(/\r?\n$/, "");
}

/** Everything around the value survives: spacing, a trailing comment, the line break. */
export function replaceInline(line: string, place: Pick<InlineValue, "start" | "end">, text: string): string {
  const gap = place.start === place.end ? " " : "";
  return line.slice(0, place.start) + gap + text + line.slice(place.end);
}
