import { printValue } from "./edit/json-print.ts";
import type { Json } from "./edit/types.ts";

/** A whole file of ours, as prettier prints it with its own settings, so that formatting a project does not touch it. */
export function printJson(value: Json): string {
  return `${printValue(value, { newline: "\n", unit: "  " }, "", 0)}\n`;
}
