import type { Json } from "./types.ts";
import { type Fields, isFields } from "./values.ts";

/** A table of its own under its full name, one line for each value. */
export function printTable(path: readonly string[], fields: Fields, newline: string): string {
  const lines = Object.entries(fields).map(([key, value]) => `${printKey([key])} = ${printTomlValue(value)}`);
  return [`[${printKey(path)}]`, ...lines].join(newline);
}

export function printKey(path: readonly string[]): string {
  return path.map((key) => (/^[\w-]+$/.test(key) ? key : printString(key))).join(".");
}

/** On one line, because an inline table may not be broken in TOML 1.0. */
export function printTomlValue(value: Json): string {
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
