import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { unreadable } from "./refusals.ts";
import type { EntryFile, Json, Range } from "./types.ts";
import { emptyFields, type Fields } from "./values.ts";

/** A key or, in an array of tables, a number. */
export type TomlPath = (string | number)[];

/** `key = value`, wherever it stands; `within` is the assignment whose inline table it is part of. */
export interface Assignment {
  path: TomlPath;
  node: AST.TOMLKeyValue;
  within: Assignment | undefined;
}

export interface TomlTree {
  tables: AST.TOMLTable[];
  assignments: Assignment[];
  comments: Range[];
}

/** The older version's files are files of the newer one; what we write ourselves is both. */
const VERSION = "1.1";

export function readTomlTree(file: EntryFile, text: string): TomlTree {
  const program = parse(file, text);
  const tree: TomlTree = { tables: [], assignments: [], comments: program.comments.map(rangeOf) };
  for (const part of program.body[0].body) {
    if (part.type === "TOMLKeyValue") assign(tree, [], part, undefined);
    else {
      tree.tables.push(part);
      for (const node of part.body) assign(tree, part.resolvedKey, node, undefined);
    }
  }
  return tree;
}

function parse(file: EntryFile, text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: VERSION });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw unreadable(file, text, error.index, error.message.toLowerCase());
  }
}

function assign(
  tree: TomlTree,
  outer: TomlPath,
  node: AST.TOMLKeyValue,
  within: Assignment | undefined,
): void {
  const keys = node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
  const assignment = { path: [...outer, ...keys], node, within };
  tree.assignments.push(assignment);
  if (node.value.type === "TOMLInlineTable")
    for (const inner of node.value.body) assign(tree, assignment.path, inner, assignment);
}

export const rangeOf = ({ range: [start, end] }: { range: AST.Range }): Range => ({ start, end });

export function startsWith(path: TomlPath, prefix: readonly string[]): boolean {
  return prefix.every((key, index) => path[index] === key);
}

export const equals = (path: TomlPath, other: readonly string[]) =>
  path.length === other.length && startsWith(path, other);

/** The assignments at or below a path that are not part of another one that is. */
export function outermost(tree: TomlTree, prefix: readonly string[]): Assignment[] {
  return tree.assignments.filter(
    ({ path, within }) => startsWith(path, prefix) && !(within && startsWith(within.path, prefix)),
  );
}

export function valueAt(tree: TomlTree, prefix: readonly string[], text: string): Json {
  const whole = tree.assignments.find(({ path }) => equals(path, prefix));
  if (whole) return jsonOf(whole.node.value, text);
  const fields = emptyFields();
  for (const table of tree.tables)
    if (startsWith(table.resolvedKey, prefix)) descend(fields, table.resolvedKey.slice(prefix.length));
  for (const { path, node } of outermost(tree, prefix)) {
    const rest = path.slice(prefix.length);
    const last = rest.pop() as string;
    (descend(fields, rest) as Fields)[last] = jsonOf(node.value, text);
  }
  return fields;
}

/** The container at a path, made where it is missing; a number is a place in an array of tables. */
function descend(fields: Fields, path: TomlPath): Json {
  let inner = fields as Record<string | number, Json>;
  path.forEach((key, index) => {
    inner[key] ??= typeof path[index + 1] === "number" ? [] : emptyFields();
    inner = inner[key] as Record<string | number, Json>;
  });
  return inner as Json;
}

/** Dates, and numbers that JSON cannot hold, become the text that stands for them. */
function jsonOf(node: AST.TOMLContentNode, text: string): Json {
  if (node.type === "TOMLArray") return node.elements.map((element) => jsonOf(element, text));
  if (node.type === "TOMLInlineTable") {
    const fields = emptyFields();
    for (const { key, value } of node.body) {
      const keys = key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
      const last = keys.pop() as string;
      (descend(fields, keys) as Fields)[last] = jsonOf(value, text);
    }
    return fields;
  }
  if (node.kind === "string" || node.kind === "boolean") return node.value;
  if (node.kind === "float" && Number.isFinite(node.value)) return node.value;
  if (node.kind === "integer" && Number.isSafeInteger(node.value)) return node.value;
  return text.slice(...node.range);
}

/** Every table and every value that is no inline table, with its path, exactly as it is written. */
export function outlineOf(tree: TomlTree, text: string, without: readonly Range[]): string[] {
  const gone = (node: { range: AST.Range }) =>
    without.some(({ start, end }) => start <= node.range[0] && node.range[1] <= end);
  const lines = tree.tables
    .filter((table) => !gone(table))
    .map((table) => `[${JSON.stringify(table.resolvedKey)}]`);
  for (const { path, node } of tree.assignments) {
    if (gone(node)) continue;
    const value = node.value.type === "TOMLInlineTable" ? "{}" : text.slice(...node.value.range);
    lines.push(`${JSON.stringify(path)} ${value}`);
  }
  return lines;
}
