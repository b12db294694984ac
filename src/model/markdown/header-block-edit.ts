import type { InlineValue } from "./header-inline.ts";
import { type FieldLayout, type ItemLayout, itemValue, readLayout } from "./header-layout.ts";
import { applyLineEdits, type LineEdit, replaceInline, withoutEol } from "./header-lines.ts";
import { fieldLine, itemLines, printInline } from "./header-printer.ts";
import { type HeaderValue, type PrintableValue, readsAs } from "./header-value.ts";

type PrintableMap = { [key: string]: PrintableValue };

/**
 * Changes only the lines of the items and fields that differ. `lines` are those of one top-level key; `undefined`
 * when its block is in any style but the canonical one.
 */
export function editBlock(
  lines: readonly string[],
  next: PrintableValue,
  eol: "\n" | "\r\n",
): string[] | undefined {
  const entry = readLayout(lines.map(withoutEol))?.[0];
  if (entry?.items !== undefined && Array.isArray(next) && next.length > 0) {
    return applyLineEdits(lines, editItems(lines, entry.items, next, entry.indent), eol);
  }
  if (entry?.fields?.every((field) => !field.fields) && isFilledMap(next)) {
    return applyLineEdits(lines, editFields(lines, entry.fields, next, entry.indent), eol);
  }
  return undefined;
}

function editItems(
  lines: readonly string[],
  items: readonly ItemLayout[],
  next: readonly PrintableValue[],
  indent: number,
): LineEdit[] {
  const { before, after } = countUnchanged(items.map(itemValue), next);
  const olds = items.slice(before, items.length - after);
  const news = next.slice(before, next.length - after);
  const edits = olds.flatMap((item, index) => {
    const value = news[index];
    if (value === undefined) return [{ at: item.line, remove: lineCount(item), insert: [] }];
    return readsAs(value, itemValue(item)) ? [] : editItem(lines, item, value, indent);
  });
  const added = news.slice(olds.length).flatMap((value) => itemLines(value, indent));
  if (added.length > 0)
    edits.push({ at: insertionLine(lines, items, before + olds.length), remove: 0, insert: added });
  return edits;
}

/** Items are matched by position; equal ones at the end are matched too when the list grew or shrank. */
function countUnchanged(olds: readonly HeaderValue[], news: readonly PrintableValue[]) {
  const shorter = Math.min(olds.length, news.length);
  const isSame = (oldIndex: number, newIndex: number) =>
    readsAs(news[newIndex] as PrintableValue, olds[oldIndex] as HeaderValue);
  let before = 0;
  while (before < shorter && isSame(before, before)) before++;
  let after = 0;
  if (olds.length !== news.length) {
    while (after < shorter - before && isSame(olds.length - 1 - after, news.length - 1 - after)) after++;
  }
  return { before, after };
}

/** At the end of the list new items follow the comments there, which speak of the item above them. */
function insertionLine(lines: readonly string[], items: readonly ItemLayout[], index: number): number {
  if (index === items.length) return lines.length;
  const previous = items[index - 1];
  return previous === undefined ? (items[0] as ItemLayout).line : previous.lastLine + 1;
}

function editItem(
  lines: readonly string[],
  item: ItemLayout,
  next: PrintableValue,
  indent: number,
): LineEdit[] {
  const firstKey = item.fields?.[0]?.key;
  if (item.fields !== undefined && isFilledMap(next) && Object.hasOwn(next, firstKey as string)) {
    return editFields(lines, item.fields, next, indent + 2);
  }
  if (item.inline !== undefined && !isFilledMap(next))
    return [editInline(lines, item.line, item.inline, next)];
  return [{ at: item.line, remove: lineCount(item), insert: itemLines(next, indent) }];
}

function editFields(
  lines: readonly string[],
  fields: readonly FieldLayout[],
  next: PrintableMap,
  indent: number,
): LineEdit[] {
  const edits = fields.flatMap((field) => {
    const value = Object.hasOwn(next, field.key) ? next[field.key] : undefined;
    if (value === undefined) return [{ at: field.line, remove: 1, insert: [] }];
    return readsAs(value, field.inline.value) ? [] : [editInline(lines, field.line, field.inline, value)];
  });
  const known = new Set(fields.map((field) => field.key));
  const added = Object.entries(next).filter(([key]) => !known.has(key));
  const last = fields.at(-1) as FieldLayout;
  const insert = added.map(([key, value]) => fieldLine(key, value, indent));
  return added.length === 0 ? edits : [...edits, { at: last.line + 1, remove: 0, insert }];
}

function editInline(
  lines: readonly string[],
  line: number,
  inline: InlineValue,
  next: PrintableValue,
): LineEdit {
  return { at: line, remove: 1, insert: [replaceInline(lines[line] as string, inline, printInline(next))] };
}

function lineCount(item: ItemLayout): number {
  return item.lastLine - item.line + 1;
}

function isFilledMap(value: PrintableValue): value is PrintableMap {
  return typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
}
