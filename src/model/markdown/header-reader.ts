import { entryValue, readLayout } from "./header-layout.ts";
import type { HeaderValue } from "./header-value.ts";

/**
 * Strict reader of the canonical subset. `undefined` means outside the subset, where a full YAML parser with the
 * failsafe schema must decide; whatever is returned equals what that parser would return.
 */
export function readHeaderFast(header: string): Map<string, HeaderValue> | undefined {
  const lines = header.includes("\r") ? header.split(/\r?\n/) : header.split("\n");
  const entries = readLayout(lines);
  return entries && new Map(entries.map((entry) => [entry.field.key, entryValue(entry)]));
}
