import { editBlock } from "./header-block-edit.ts";
import { isCommentOrBlank } from "./header-inline.ts";
import { readLayout } from "./header-layout.ts";
import { applyLineEdits, type LineEdit, replaceInline, splitLines, withoutEol } from "./header-lines.ts";
import { blockLines, entryLines, printInline } from "./header-printer.ts";
import { type HeaderValue, type PrintableValue, readsAs } from "./header-value.ts";

type Changes = Map<string, PrintableValue | undefined>;

/** Where a top-level key stands. */
export interface KeyPlace {
  key: string;
  line: number;
  /** The columns of its value on that line, both just after the colon where there is none; undefined when it goes on below. */
  value: { start: number; end: number } | undefined;
  /** The first line that may be left to the next key: blank lines can be a part of this one's value. */
  until: number;
}

/** The keys of a header inside the canonical subset; `undefined` for any other, whose keys only a YAML parser can place. */
export function locateKeys(header: string): KeyPlace[] | undefined {
  const layout = readLayout(splitLines(header).map(withoutEol));
  return layout?.map(({ field }) => ({
    key: field.key,
    line: field.line,
    value: field.inline,
    until: field.line + 1,
  }));
}

/**
 * Returns the header with only the lines of the changed keys different. `undefined` deletes a key, new keys go after
 * the last one; `current` is what reading `header` gave, and `places` where its keys stand.
 */
export function editHeader(
  header: string,
  changes: Iterable<readonly [string, PrintableValue | undefined]>,
  current: ReadonlyMap<string, HeaderValue>,
  places: readonly KeyPlace[],
  eol: "\n" | "\r\n",
): string {
  const wanted = dropUnchanged(changes, current);
  if (wanted.size === 0) return header;
  const lines = splitLines(header);
  const sections = places.map((place, index) => ({ ...place, end: endOf(lines, place, places[index + 1]) }));
  const edits = sections.flatMap(({ key, line, value, end }): LineEdit[] => {
    if (!wanted.has(key)) return [];
    const next = wanted.get(key);
    const insert = next === undefined ? [] : rewrite(lines.slice(line, end), { key, value, next }, eol);
    return [{ at: line, remove: end - line, insert }];
  });
  const added = [...wanted].filter(([key]) => !current.has(key));
  const insert = added.flatMap(([key, value]) => entryLines(key, value as PrintableValue));
  const at = sections.at(-1)?.end ?? lines.length;
  return applyLineEdits(lines, [...edits, { at, remove: 0, insert }], eol).join("");
}

function dropUnchanged(
  changes: Iterable<readonly [string, PrintableValue | undefined]>,
  current: ReadonlyMap<string, HeaderValue>,
): Changes {
  const wanted: Changes = new Map(changes);
  for (const [key, next] of wanted) {
    const value = current.get(key);
    if (next === undefined ? value === undefined : value !== undefined && readsAs(next, value))
      wanted.delete(key);
  }
  return wanted;
}

/** Blank lines and comments at the margin above a key are the next key's. */
function endOf(lines: readonly string[], { until }: KeyPlace, next: KeyPlace | undefined): number {
  let end = next?.line ?? lines.length;
  while (end > until && /^(?:\s*$|#)/.test(lines[end - 1] as string)) end--;
  return end;
}

function rewrite(
  lines: readonly string[],
  { key, value: place, next }: { key: string; value: KeyPlace["value"]; next: PrintableValue },
  eol: "\n" | "\r\n",
): readonly string[] {
  const edited = editBlock(lines, next, eol);
  if (edited !== undefined) return edited;
  const [keyLine = "", ...below] = lines;
  const isOneLine = below.every((line) => isCommentOrBlank(withoutEol(line)));
  const isEmpty = place !== undefined && place.start === place.end;
  if (place === undefined || !(isOneLine || isEmpty)) return entryLines(key, next);
  const rest = isOneLine ? below : [];
  const block = blockLines(next);
  if (block === undefined) return [replaceInline(keyLine, place, printInline(next)), ...rest];
  return [keyLine.slice(0, place.start).trimEnd() + keyLine.slice(place.end), ...block, ...rest];
}
