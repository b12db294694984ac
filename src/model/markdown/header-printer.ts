import { readFieldName } from "./header-inline.ts";
import type { PrintableValue } from "./header-value.ts";

const PLAIN = /^[A-Za-z](?:[A-Za-z0-9_ ./-]*[A-Za-z0-9_./-])?$/;
/** YAML 1.1 tools read these as booleans or null even where YAML 1.2 reads text. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** JSON leaves these raw, but some YAML parsers refuse them or take them for line breaks. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Prints the canonical form: deterministic, one value per line, always inside what `readHeaderFast` reads. */
export function printHeader(
  entries: Iterable<readonly [string, PrintableValue]>,
  eol: "\n" | "\r\n" = "\n",
): string {
  const seen = new Set<string>();
  let text = "";
  for (const [key, value] of entries) {
    if (seen.has(key)) throw new TypeError(`The front matter key ${JSON.stringify(key)} is given twice.`);
    seen.add(key);
    for (const line of entryLines(key, value)) text += line + eol;
  }
  return text;
}

/** The lines of one top-level key, without line breaks. */
export function entryLines(key: string, value: PrintableValue): string[] {
  if (readFieldName(`${key}:`, 0, false)?.key !== key) {
    throw new TypeError(`${JSON.stringify(key)} cannot be a front matter key.`);
  }
  const block = blockLines(value);
  return block === undefined ? [`${key}: ${printInline(value)}`] : [`${key}:`, ...block];
}

/** The lines under a top-level key, or `undefined` for a value that stands on the key's own line. */
export function blockLines(value: PrintableValue): string[] | undefined {
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.flatMap((item) => itemLines(item, 2));
  }
  if (typeof value !== "object" || Object.keys(value).length === 0) return undefined;
  return Object.entries(value).map(([key, field]) => fieldLine(key, field, 2));
}

export function itemLines(item: PrintableValue, indent: number): string[] {
  const dash = `${" ".repeat(indent)}- `;
  if (typeof item !== "object" || Array.isArray(item) || Object.keys(item).length === 0) {
    return [dash + printInline(item)];
  }
  return Object.entries(item).map(([key, field], index) =>
    index === 0 ? dash + fieldLine(key, field, 0) : fieldLine(key, field, indent + 2),
  );
}

export function fieldLine(key: string, value: PrintableValue, indent: number): string {
  return `${" ".repeat(indent)}${printNestedKey(key)}: ${printInline(value)}`;
}

/** One line for any value; below the second level maps and lists are printed in flow style. */
export function printInline(value: PrintableValue): string {
  if (typeof value === "string") return printString(value);
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`${value} cannot be written to front matter.`);
  }
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(printInline).join(", ")}]`;
  const fields = Object.entries(value).map(([key, field]) => `${printNestedKey(key)}: ${printInline(field)}`);
  return `{${fields.join(", ")}}`;
}

function printString(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : quote(text);
}

function quote(text: string): string {
  return JSON.stringify(text).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function printNestedKey(key: string): string {
  for (const text of [key, quote(key)]) {
    if (readFieldName(`${text}:`, 0, true)?.key === key) return text;
  }
  throw new TypeError(`${JSON.stringify(key.slice(0, 80))} cannot be a front matter key.`);
}
