import type { Entry, Json } from "./types.ts";
import { isFields } from "./values.ts";

/** Each entry as a table of its own under its full name, one line for each value. */
export const printTables = (entries: readonly Entry[], newline: string) =>
  entries.map(({ at, value }) => printTable(at, value, newline)).join(newline + newline);

function printTable(path: readonly string[], value: Json, newline: string): string {
  if (!isFields(value)) throw new Error("an entry in a TOML file is a table of its own");
  const lines = Object.entries(value).map(([key, one]) => `${printKey([key])} = ${printTomlValue(one)}`);
  return [`[${printKey(path)}]`, ...lines].join(newline);
}

function printKey(path: readonly string[]): string {
  return path.map((key) => (/^[\w-]+$/.test(key) ? key : printString(key))).join(".");
}

/** On one line, because an inline table may not be broken in TOML 1.0. */
function printTomlValue(value: Json): string {
  if (typeof value === "string") return printString(value);
  if (Array.isArray(value)) return `[${value.map(printTomlValue).join(", ")}]`;
  if (value === null) throw new Error("TOML has no null");
  if (!isFields(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${printKey([key])} = ${printTomlValue(item)}`);
  return pairs.length > 0 ? `{ ${pairs.join(", ")} }` : "{}";
}

/** JSON's escapes are TOML's as well; only the delete character may stand bare in JSON but not in TOML. */
function printString(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
