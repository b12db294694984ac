import { isPrintable, readInlineAfterColon } from "./header-inline.ts";
import type { HeaderValue } from "./header-value.ts";

const OPENING_FENCE = /^\ufeff?---(?=\r?\n)(?!(?:\r?\n(?:#[^\n]*(?=\n))?)+(?: |- ))/;
const SIMPLE_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const FENCE = 1;
const KEY = 2;
const PLAIN = 3;
const QUOTED = 4;
const OTHER = 5;
const NESTED = 6;
const patterns = new WeakMap<ReadonlySet<string>, RegExp>();

/**
 * Reads the named top-level one-line keys from the start of a file's text and looks at no other value, so that
 * thousands of tasks can be listed without parsing them. `undefined` when the closing fence is missing, a named
 * value is not on one line or a top-level line is unusual: the whole file must then be read.
 */
export function scanHeader(text: string, keys: ReadonlySet<string>): Map<string, HeaderValue> | undefined {
  const opening = OPENING_FENCE.exec(text);
  if (opening === null) return undefined;
  const found = new Map<string, HeaderValue>();
  const pattern = patternFor(keys);
  pattern.lastIndex = opening[0].length;
  for (;;) {
    const match = pattern.exec(text);
    if (match === null) return undefined;
    if (match[FENCE] !== undefined) return found;
    const key = match[KEY];
    if (key === undefined || match[NESTED] !== undefined || found.has(key)) return undefined;
    const value = match[PLAIN] ?? match[QUOTED] ?? readOther(match[OTHER] as string);
    if (value === undefined) return undefined;
    found.set(key, value);
  }
}

function readOther(afterColon: string): HeaderValue | undefined {
  return isPrintable(afterColon) ? readInlineAfterColon(afterColon, 0)?.value : undefined;
}

/** A set of keys must not change after its first use: its pattern is kept. */
function patternFor(keys: ReadonlySet<string>): RegExp {
  const known = patterns.get(keys);
  if (known !== undefined) return known;
  const pattern = buildPattern([...keys]);
  patterns.set(keys, pattern);
  return pattern;
}

/**
 * One native search that stops at the closing fence, at each named key, and with no group set at a top-level line
 * that is neither ordinary nor a readable named key. A loop over the lines took twice as long in a fresh process.
 */
function buildPattern(keys: readonly string[]): RegExp {
  const unusable = keys.find((key) => !SIMPLE_KEY.test(key));
  if (unusable !== undefined) throw new TypeError(`${JSON.stringify(unusable)} cannot be scanned for.`);
  const named = keys.length === 0 ? "(?!)" : keys.join("|");
  const lineEnd = String.raw`(?=\r?\n)`;
  const plain = `: ([A-Za-z0-9](?:[A-Za-z0-9_ ./-]*[A-Za-z0-9_./-])?)${lineEnd}`;
  const quoted = String.raw`: "([ !#-[\]-~\u00a0-\uffff]*)"${lineEnd}`;
  const other = `:((?: [^\\r\\n]*)?)${lineEnd}`;
  const nextIsNested = String.raw`(?=(?:\r?\n(?:#[^\n]*)?)+( |- )?)`;
  const ordinary = String.raw`[ #\r\n]|- |(?!(?:${named}):)[A-Za-z_][A-Za-z0-9_-]*:[ \r\n]`;
  return new RegExp(
    String.raw`\n(?:(---)(?=\r?\n|$)|(${named})(?:${plain}|${quoted}|${other})${nextIsNested}|(?!${ordinary}))`,
    "g",
  );
}
