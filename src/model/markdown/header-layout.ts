import {
  type InlineValue,
  isCommentOrBlank,
  isPrintable,
  readFieldName,
  readInlineAfterColon,
  readInlineAt,
  readOrdinaryField,
} from "./header-inline.ts";
import type { HeaderValue } from "./header-value.ts";

export interface FieldLayout {
  key: string;
  line: number;
  inline: InlineValue;
  /** What stands under a key of a nested map, such as the settings of one agent. */
  fields?: FieldLayout[];
}

/** One `- ` item: either one inline value, or the fields of a flat map. */
export interface ItemLayout {
  line: number;
  lastLine: number;
  inline: InlineValue | undefined;
  fields: FieldLayout[] | undefined;
}

/** A top-level key with its inline value, or the block of items or fields under it. */
export interface EntryLayout {
  field: FieldLayout;
  /** Column of the dashes of `items`, or of the keys of `fields`. */
  indent: number;
  items: ItemLayout[] | undefined;
  fields: FieldLayout[] | undefined;
}

/** Lines read so far; every reader below leaves `at` on the first line that is not its own. */
interface Cursor {
  readonly lines: readonly string[];
  at: number;
}

/** Where every value of a header stands; `undefined` when any line is outside the canonical subset. */
export function readLayout(lines: readonly string[]): EntryLayout[] | undefined {
  if (!lines.every(isPrintable)) return undefined;
  const cursor = { lines, at: 0 };
  const entries: EntryLayout[] = [];
  const seen = new Set<string>();
  skipComments(cursor);
  while (cursor.at < lines.length) {
    const entry = readEntry(cursor);
    if (entry === undefined || seen.has(entry.field.key)) return undefined;
    seen.add(entry.field.key);
    entries.push(entry);
  }
  return entries;
}

export function entryValue(entry: EntryLayout): HeaderValue {
  if (entry.items !== undefined) return entry.items.map(itemValue);
  return entry.fields === undefined ? entry.field.inline.value : fieldsValue(entry.fields);
}

export function itemValue(item: ItemLayout): HeaderValue {
  return item.inline === undefined ? fieldsValue(item.fields as FieldLayout[]) : item.inline.value;
}

function fieldsValue(fields: readonly FieldLayout[]): HeaderValue {
  const value: { [key: string]: HeaderValue } = {};
  for (const field of fields)
    value[field.key] = field.fields ? fieldsValue(field.fields) : field.inline.value;
  return value;
}

function readEntry(cursor: Cursor): EntryLayout | undefined {
  const field = readField(cursor, 0, false);
  if (field === undefined) return undefined;
  const entry: EntryLayout = { field, indent: 0, items: undefined, fields: undefined };
  if (field.inline.start !== field.inline.end) return entry;
  entry.indent = indentHere(cursor);
  if (isItemHere(cursor, entry.indent)) {
    entry.items = readItems(cursor, entry.indent);
    return entry.items && entry;
  }
  if (entry.indent <= 0) return entry;
  entry.fields = readMap(cursor, entry.indent);
  return entry.fields && entry;
}

function readItems(cursor: Cursor, indent: number): ItemLayout[] | undefined {
  const items: ItemLayout[] = [];
  while (isItemHere(cursor, indent)) {
    const item = readItem(cursor, indent + 2);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function readItem(cursor: Cursor, column: number): ItemLayout | undefined {
  const line = cursor.at;
  const first = readField(cursor, column, true);
  if (first !== undefined) {
    const fields = readFields(cursor, column, [first]);
    return fields && { line, lastLine: (fields.at(-1) as FieldLayout).line, inline: undefined, fields };
  }
  const inline = readInlineAt(cursor.lines[line] as string, column);
  if (inline === undefined) return undefined;
  cursor.at++;
  skipComments(cursor);
  return { line, lastLine: line, inline, fields: undefined };
}

function readFields(cursor: Cursor, indent: number, fields: FieldLayout[]): FieldLayout[] | undefined {
  while (indentHere(cursor) === indent) {
    const field = readField(cursor, indent, true);
    if (field === undefined || fields.some((other) => other.key === field.key)) return undefined;
    fields.push(field);
  }
  return fields;
}

/** The fields of a map, each of which may be a map again. */
function readMap(cursor: Cursor, indent: number): FieldLayout[] | undefined {
  const fields: FieldLayout[] = [];
  while (indentHere(cursor) === indent) {
    const field = readField(cursor, indent, true);
    if (field === undefined || fields.some((other) => other.key === field.key)) return undefined;
    fields.push(field);
    const deeper = indentHere(cursor);
    if (deeper <= indent || field.inline.start !== field.inline.end) continue;
    const nested = readMap(cursor, deeper);
    if (nested === undefined) return undefined;
    field.fields = nested;
  }
  return fields;
}

function readField(cursor: Cursor, column: number, quoted: boolean): FieldLayout | undefined {
  const line = cursor.lines[cursor.at] as string;
  const found = readOrdinaryField(line, column) ?? takeApart(line, column, quoted);
  if (found === undefined) return undefined;
  const field = { key: found.key, line: cursor.at, inline: found.inline };
  cursor.at++;
  skipComments(cursor);
  return field;
}

function takeApart(line: string, column: number, quoted: boolean) {
  const name = readFieldName(line, column, quoted);
  const inline = name && readInlineAfterColon(line, name.end);
  return name && inline && { key: name.key, inline };
}

function skipComments(cursor: Cursor): void {
  while (cursor.at < cursor.lines.length && isCommentOrBlank(cursor.lines[cursor.at] as string)) cursor.at++;
}

function isItemHere(cursor: Cursor, indent: number): boolean {
  return indentHere(cursor) === indent && cursor.lines[cursor.at]?.startsWith("- ", indent) === true;
}

/** -1 past the last line, so that no block continues there. */
function indentHere(cursor: Cursor): number {
  const line = cursor.lines[cursor.at];
  if (line === undefined) return -1;
  let column = 0;
  while (line.charCodeAt(column) === 32) column++;
  return column;
}
