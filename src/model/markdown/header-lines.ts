import type { InlineValue } from "./header-inline.ts";

/** Replaces `remove` lines from `at` on by `insert`. */
export interface LineEdit {
  at: number;
  remove: number;
  insert: readonly string[];
}

/**
 * Edits must not overlap; those at the same line take effect in the order given. Inserted lines that were edited
 * bring their own line break, new ones get `eol`.
 */
export function applyLineEdits(lines: readonly string[], edits: readonly LineEdit[], eol: string): string[] {
  const result = [...lines];
  const fromTheEnd = edits.toReversed().toSorted((a, b) => b.at - a.at);
  for (const edit of fromTheEnd) {
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
