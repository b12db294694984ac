import type { Json } from "./types.ts";
import { isFields } from "./values.ts";

/** How wide a line may become before an array is broken, as prettier has it. */
const LINE_WIDTH = 80;
/** What prettier counts for a tab. */
const TAB_WIDTH = 2;

export interface JsonStyle {
  newline: string;
  unit: string;
}

/**
 * A value as prettier prints it when every object is spread over lines. `indent` is that of the line where it begins,
 * `taken` what stands on that line before it and right after it.
 */
export function printValue(value: Json, style: JsonStyle, indent: string, taken: number): string {
  const inner = indent + style.unit;
  if (Array.isArray(value)) {
    const line = printInline(value, false);
    if (!value.some(isSpread) && widthOf(indent) + taken + line.length <= LINE_WIDTH) return line;
    const items = value.map((item, index) =>
      printValue(item, style, inner, index < value.length - 1 ? 1 : 0),
    );
    return wrap(["[", "]"], items, style, indent);
  }
  if (!isSpread(value)) return JSON.stringify(value);
  const entries = Object.entries(value as { [key: string]: Json });
  const members = entries.map(([key, item], index) =>
    printMember(key, item, style, inner, index < entries.length - 1),
  );
  return wrap(["{", "}"], members, style, indent);
}

export function printMember(
  key: string,
  value: Json,
  style: JsonStyle,
  indent: string,
  comma: boolean,
): string {
  const name = `${JSON.stringify(key)}: `;
  return name + printValue(value, style, indent, name.length + (comma ? 1 : 0));
}

/** All on one line, for a container that the user keeps on one line. */
export function printInline(value: Json, compact: boolean): string {
  if (compact) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => printInline(item, false)).join(", ")}]`;
  if (!isSpread(value)) return JSON.stringify(value);
  const members = Object.entries(value as { [key: string]: Json }).map(
    ([key, item]) => `${JSON.stringify(key)}: ${printInline(item, false)}`,
  );
  return `{ ${members.join(", ")} }`;
}

/** Prettier keeps an object spread that was spread, and an array around one has to be spread as well. */
function isSpread(value: Json): boolean {
  return Array.isArray(value) ? value.some(isSpread) : isFields(value) && Object.keys(value).length > 0;
}

function wrap(brackets: [string, string], items: string[], style: JsonStyle, indent: string): string {
  const lines = items.map((item) => `${style.newline}${indent}${style.unit}${item}`);
  return `${brackets[0]}${lines.join(",")}${style.newline}${indent}${brackets[1]}`;
}

const widthOf = (indent: string) => indent.replaceAll("\t", " ".repeat(TAB_WIDTH)).length;
