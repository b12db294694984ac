import type { AST } from "toml-eslint-parser";
import { type CommaList, commaBefore, commentsIn, endOfList, removeItem, skipSpace } from "./comma-list.ts";
import { wrongContainer } from "./refusals.ts";
import { gapBefore, indentAt, newlineOf, wholeLines } from "./text-style.ts";
import { printKey, printTable, printTomlValue } from "./toml-print.ts";
import {
  equals,
  outermost,
  outlineOf,
  rangeOf,
  readTomlTree,
  startsWith,
  type TomlTree,
  valueAt,
} from "./toml-tree.ts";
import type { Document, Edit, Entry, EntryFile, Json, Place, Range } from "./types.ts";
import { type Fields, isFields } from "./values.ts";

/** A stretch that defines our entry, or a part of it: a table, or an assignment in a table or in an inline table. */
type Definition = AST.TOMLTable | AST.TOMLKeyValue;

export function readToml(file: EntryFile, text: string): Document {
  const tree = readTomlTree(file, text);
  return {
    text,
    comments: tree.comments,
    places: (entry) => places(tree, text, entry),
    insertion: (entries) => ({ edits: insertion(file, tree, text, entries), made: [] }),
    // A table's name makes the tables above it, so that there is never an empty one to take out.
    emptied: () => undefined,
    commaBefore: (offset) => commaBefore(text, tree.comments, offset),
    outline: (without) => outlineOf(tree, text, without),
  };
}

function places(tree: TomlTree, text: string, entry: Entry): Place[] {
  const { at } = entry;
  if (entry.kind !== "key") throw new Error("an entry in a TOML file is a table of its own");
  const tables = tree.tables.filter((table) => startsWith(table.resolvedKey, at));
  const definitions: Definition[] = [
    ...tables,
    ...outermost(tree, at)
      .map(({ node }) => node)
      .filter((node) => !tables.some((table) => node.parent === table)),
  ];
  if (definitions.length === 0) return [];
  const ranges = definitions.map(rangeOf);
  const place: Place = {
    ranges,
    value: valueAt(tree, at, text),
    commented: tree.comments.some((one) =>
      ranges.some(({ start, end }) => start <= one.start && one.end <= end),
    ),
    removal: () => removal(tree, text, definitions),
    replacement: (value) => replacement(tree, text, at, definitions, value),
  };
  return [place];
}

function removal(tree: TomlTree, text: string, definitions: Definition[]): Edit[] {
  const lines: Range[] = [];
  const edits: Edit[] = [];
  for (const definition of definitions) {
    const { parent } = definition;
    const { start, end } = rangeOf(definition);
    const above = lines.at(-1);
    if (parent.type === "TOMLInlineTable") {
      const around = { text, list: listOf(parent), comments: tree.comments };
      edits.push(...removeItem(around, parent.body.indexOf(definition as AST.TOMLKeyValue)));
    } else if (above && skipSpace(text, above.end) === start) above.end = end;
    else lines.push({ start, end });
  }
  return [...edits, ...lines.map((range) => wholeLines(text, range))];
}

function replacement(
  tree: TomlTree,
  text: string,
  at: string[],
  definitions: Definition[],
  value: Json,
): Edit[] | undefined {
  const [only, another] = definitions;
  if (!only || another) return undefined;
  if (only.type === "TOMLTable")
    return only.kind === "standard" && equals(only.resolvedKey, at)
      ? [{ ...rangeOf(only), text: printTable(at, tableOf(value), newlineOf(text)) }]
      : undefined;
  const whole = tree.assignments.some(({ path, node }) => node === only && equals(path, at));
  return whole ? [{ ...rangeOf(only.value), text: printTomlValue(value) }] : undefined;
}

function insertion(file: EntryFile, tree: TomlTree, text: string, entries: Entry[]): Edit[] {
  const tables: string[] = [];
  const inlines = new Map<AST.TOMLInlineTable, string[]>();
  for (const { at, value } of entries) {
    const inline = inlineAbove(file, tree, text, at);
    if (!inline) tables.push(printTable(at, tableOf(value), newlineOf(text)));
    else {
      const pair = `${printKey(at.slice(inline.depth))} = ${printTomlValue(value)}`;
      inlines.set(inline.node, [...(inlines.get(inline.node) ?? []), pair]);
    }
  }
  const edits = [...inlines].flatMap(([node, pairs]) => appendInline(tree, text, node, pairs));
  return tables.length > 0 ? [...edits, appendTables(text, tables)] : edits;
}

/** The innermost inline table on the way to our place: it is closed, so that ours has to go inside it. */
function inlineAbove(file: EntryFile, tree: TomlTree, text: string, at: string[]) {
  let found: { node: AST.TOMLInlineTable; depth: number } | undefined;
  for (let depth = 1; depth < at.length; depth++) {
    const above = at.slice(0, depth);
    const array = tree.tables.find(
      (table) => table.kind === "array" && equals(table.resolvedKey.slice(0, -1), above),
    );
    const assigned = tree.assignments.find(({ path }) => equals(path, above))?.node.value;
    if (assigned?.type === "TOMLInlineTable") found = { node: assigned, depth };
    const wrong = array ?? (assigned?.type === "TOMLInlineTable" ? undefined : assigned);
    if (!wrong) continue;
    const is = wrong.type === "TOMLValue" ? `a ${wrong.kind}` : "an array";
    throw wrongContainer(file, text, { path: above, offset: wrong.range[0], is, wanted: "a table" });
  }
  return found;
}

function appendTables(text: string, tables: string[]): Edit {
  const newline = newlineOf(text);
  const body = gapBefore(text, newline) + tables.join(newline + newline);
  const ended = text === "" || text.endsWith("\n");
  return { start: text.length, end: text.length, text: ended ? body + newline : body };
}

function appendInline(tree: TomlTree, text: string, node: AST.TOMLInlineTable, pairs: string[]): Edit[] {
  const list = listOf(node);
  const around = { text, list, comments: tree.comments };
  const { at, comma, trailing } = endOfList(around);
  const comment = commentsIn(around).some(({ end }) => end === at);
  const lead = comment ? newlineOf(text) + indentAt(text, at) : " ";
  const tail = trailing ? "," : list.items.length === 0 && at === list.close ? " " : "";
  const body = lead + pairs.join(", ") + tail;
  if (comma === undefined) return [{ start: at, end: at, text: body }];
  if (comma === at) return [{ start: at, end: at, text: `,${body}` }];
  return [
    { start: comma, end: comma, text: "," },
    { start: at, end: at, text: body },
  ];
}

function listOf(node: AST.TOMLInlineTable): CommaList {
  return { open: node.range[0] + 1, close: node.range[1] - 1, items: node.body.map(rangeOf) };
}

function tableOf(value: Json): Fields {
  if (!isFields(value)) throw new Error("an entry in a TOML file is a table of its own");
  return value;
}
