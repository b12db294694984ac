import { Failure } from "../../model/failure.ts";

/** A table or a key of a TOML file, and the line that it stands on. */
interface TomlName {
  path: string[];
  is: "table" | "array" | "key";
  line: number;
}

const KEY = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const NAME = String.raw`(${KEY}(?:\s*\.\s*${KEY})*)`;
const HEADER = new RegExp(String.raw`^\s*(\[\[?)\s*${NAME}\s*\]\]?\s*(?:#.*)?$`);
const ASSIGNMENT = new RegExp(String.raw`^\s*${NAME}\s*=`);

/** Every table and every key that begins a line: enough to see what is where ours would go, without reading any value. */
function namesInToml(text: string): TomlName[] {
  const names: TomlName[] = [];
  let table: string[] = [];
  let inside: Inside = { quotes: undefined, depth: 0 };
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const begins = inside.quotes === undefined && inside.depth === 0;
    const [, brackets, header] = (begins && HEADER.exec(line)) || [];
    const [, key] = (begins && ASSIGNMENT.exec(line)) || [];
    if (header !== undefined) {
      table = keysOf(header);
      names.push({ path: table, is: brackets === "[[" ? "array" : "table", line: index + 1 });
    } else if (key !== undefined)
      names.push({ path: [...table, ...keysOf(key)], is: "key", line: index + 1 });
    inside = insideAfter(line, inside);
  }
  return names;
}

const keysOf = (name: string) =>
  (name.match(new RegExp(KEY, "g")) ?? []).map((key) => (/^["']/.test(key) ? key.slice(1, -1) : key));

/** What is still open at the end of a line: a string of several lines, or brackets. */
interface Inside {
  quotes: string | undefined;
  depth: number;
}

const TOKEN = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[[\]{}]/g;

function insideAfter(line: string, before: Inside): Inside {
  let { quotes, depth } = before;
  let rest = line;
  if (quotes !== undefined) {
    const end = rest.indexOf(quotes);
    if (end < 0) return before;
    rest = rest.slice(end + 3);
    quotes = undefined;
  }
  for (const { 0: token, index } of rest.matchAll(TOKEN)) {
    if (token === '"""' || token === "'''")
      return insideAfter(rest.slice(index + 3), { quotes: token, depth });
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
  }
  return { quotes, depth };
}

const startsWith = (path: readonly string[], prefix: readonly string[]) =>
  prefix.every((key, index) => path[index] === key);

/** The table of that name, or the first part of it. */
export const findTable = (text: string, at: readonly string[]) =>
  namesInToml(text).find(({ path }) => startsWith(path, at));

/** What keeps a table from being added below: a value that is whole already, or an array. */
const findClosed = (text: string, at: readonly string[]) =>
  namesInToml(text).find(({ path, is }) => is !== "table" && startsWith(at, path));

export const roomFor = (text: string, at: readonly string[]) =>
  !(findTable(text, at) ?? findClosed(text, at));

/** A table may be defined once: where the user has it already, or has closed the one around it, ours has no room. */
export function refuseTakenTables(path: string, text: string, tables: readonly string[][]): void {
  for (const at of tables) {
    const table = findTable(text, at);
    if (table) throw taken(path, table, at);
    const outer = findClosed(text, at);
    if (outer) throw closed(path, outer, at);
  }
}

function taken(path: string, { line }: TomlName, at: readonly string[]): Failure {
  const name = at.join(".");
  return new Failure(
    "refused",
    "entry_taken",
    `${path}, line ${line}: \`${name}\` already exists and is not pawl's. It was left as it is.`,
    {
      hint: `Rename or remove \`${name}\` in ${path}, then run the same command again.`,
      details: { path, line, at: [...at] },
    },
  );
}

function closed(path: string, { path: name, line, is }: TomlName, at: readonly string[]): Failure {
  const shown = name.join(".");
  const why = is === "array" ? "is an array" : "has its whole value in one place";
  return new Failure(
    "refused",
    "table_closed",
    `${path}, line ${line}: \`${shown}\` ${why}, so \`[${at.join(".")}]\` cannot be added below it. It was left as it is.`,
    {
      hint: `Write what is in \`${shown}\` as tables, such as \`[${shown}.name]\`, then run the same command again.`,
      details: { path, line, at: [...at] },
    },
  );
}
