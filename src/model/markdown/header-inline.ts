import type { HeaderValue } from "./header-value.ts";

/** A value that begins and ends on one line; `start === end` right after the colon when it is empty. */
export interface InlineValue {
  value: HeaderValue;
  start: number;
  end: number;
}

export interface FieldName {
  key: string;
  /** Column just after the colon. */
  end: number;
}

type Parsed = { value: HeaderValue; end: number };

const SIMPLE_KEY = /[A-Za-z_][A-Za-z0-9_-]{0,63}(?=:(?: |$))/y;
const QUOTED_KEY = /"[^"\\]*(?:\\.[^"\\]*)*"(?=:(?: |$))/y;
/** YAML allows at most 1024 characters between the start of a one-line key and its colon. */
const MAX_QUOTED_KEY = 1000;
const DOUBLE_QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const SINGLE_QUOTED = /'[^']*(?:''[^']*)*'/y;
const PLAIN_START = /[A-Za-z0-9_./+~(=<$\u00a1-\ufefe]|-[A-Za-z0-9]/y;
const FLOW_PLAIN = /(?:[A-Za-z0-9_./+]|-(?=[A-Za-z0-9]))[A-Za-z0-9_ ./+@()=%$~\u00a1-\ufefe-]*/y;
/** Complements the printable ranges: a class of control characters would be taken for a mistake. */
const UNPRINTABLE = /[^ -~\u00a0-\uffff]/;
const MAX_FLOW_DEPTH = 100;

/** Tabs and other control characters have rules of their own in YAML; the readers below expect none. */
export function isPrintable(line: string): boolean {
  return !UNPRINTABLE.test(line);
}

export function isCommentOrBlank(line: string): boolean {
  return line === "" || line[skipSpaces(line, 0)] === "#";
}

/** `quoted` keys belong to nested maps only, where a key may be a path or any other text. */
export function readFieldName(line: string, at: number, quoted: boolean): FieldName | undefined {
  const simple = matchAt(SIMPLE_KEY, line, at);
  if (simple !== undefined) {
    return simple === "__proto__" ? undefined : { key: simple, end: at + simple.length + 1 };
  }
  const text = quoted ? matchAt(QUOTED_KEY, line, at) : undefined;
  const key = text === undefined ? undefined : parseJsonString(text);
  if (text === undefined || text.length > MAX_QUOTED_KEY) return undefined;
  if (key === undefined || key === "__proto__") return undefined;
  return { key, end: at + text.length + 1 };
}

/**
 * Most lines of most headers, read at once: a key, and a value that either has nothing in it that could mean more than
 * itself, or stands in double quotes without an escape.
 */
const ORDINARY =
  /([A-Za-z_][A-Za-z0-9_-]{0,63}): (?:"([^"\\]*)"|([A-Za-z0-9_./+](?:[A-Za-z0-9_./+@ -]*[A-Za-z0-9_./+@-])?))$/y;

/** The key and the value of such a line; undefined for any other, which the readers below take apart. */
export function readOrdinaryField(
  line: string,
  at: number,
): { key: string; inline: InlineValue } | undefined {
  ORDINARY.lastIndex = at;
  const match = ORDINARY.exec(line);
  if (match === null) return undefined;
  const [, key = "", quoted, plain = ""] = match;
  if (key === "__proto__") return undefined;
  const inline = { value: quoted ?? plain, start: at + key.length + 2, end: line.length };
  return { key, inline };
}

/** Reads what follows a colon and its space. `undefined` means: not certain to be what a YAML parser would read. */
export function readInlineAfterColon(line: string, colonEnd: number): InlineValue | undefined {
  const start = skipSpaces(line, colonEnd);
  const isEmpty = start === line.length || line[start] === "#";
  if (isEmpty) return { value: "", start: colonEnd, end: colonEnd };
  return readInlineAt(line, start);
}

/** Reads a value that begins exactly at `start` and is followed by nothing but a comment. */
export function readInlineAt(line: string, start: number): InlineValue | undefined {
  const parsed = parseAt(line, start);
  if (parsed === undefined || !endsLine(line, parsed.end)) return undefined;
  return { value: parsed.value, start, end: parsed.end };
}

function parseAt(line: string, start: number): Parsed | undefined {
  switch (line[start]) {
    case '"':
      return parseDoubleQuoted(line, start);
    case "'":
      return parseSingleQuoted(line, start);
    case "[":
    case "{":
      return parseFlow(line, start, 0);
    default:
      return parsePlain(line, start);
  }
}

function parsePlain(line: string, start: number): Parsed | undefined {
  PLAIN_START.lastIndex = start;
  if (!PLAIN_START.test(line)) return undefined;
  const end = plainEnd(line, start);
  const value = line.slice(start, end);
  if (value.includes(": ") || value.endsWith(":")) return undefined;
  return { value, end };
}

function plainEnd(line: string, start: number): number {
  const comment = line.indexOf(" #", start);
  let end = comment === -1 ? line.length : comment;
  while (end > start && line.charCodeAt(end - 1) === 32) end--;
  return end;
}

function parseSingleQuoted(line: string, start: number): Parsed | undefined {
  const text = matchAt(SINGLE_QUOTED, line, start);
  if (text === undefined) return undefined;
  return { value: text.slice(1, -1).replaceAll("''", "'"), end: start + text.length };
}

/** YAML's double quotes know more escapes than JSON's; those texts are left to the full parser. */
function parseDoubleQuoted(line: string, start: number): Parsed | undefined {
  const text = matchAt(DOUBLE_QUOTED, line, start);
  const value = text === undefined ? undefined : parseJsonString(text);
  return text === undefined || value === undefined ? undefined : { value, end: start + text.length };
}

function parseFlow(line: string, start: number, depth: number): Parsed | undefined {
  if (depth > MAX_FLOW_DEPTH) return undefined;
  switch (line[start]) {
    case "[":
      return parseFlowList(line, start, depth);
    case "{":
      return parseFlowMap(line, start, depth);
    case '"':
      return parseDoubleQuoted(line, start);
    case "'":
      return parseSingleQuoted(line, start);
    default: {
      const text = matchAt(FLOW_PLAIN, line, start);
      if (text === undefined) return undefined;
      return { value: text.replace(/ +$/, ""), end: start + text.length };
    }
  }
}

function parseFlowList(line: string, start: number, depth: number): Parsed | undefined {
  const value: HeaderValue[] = [];
  let at = skipSpaces(line, start + 1);
  if (line[at] === "]") return { value, end: at + 1 };
  for (;;) {
    const item = parseFlow(line, at, depth + 1);
    if (item === undefined) return undefined;
    value.push(item.value);
    at = skipSpaces(line, item.end);
    if (line[at] === "]") return { value, end: at + 1 };
    if (line[at] !== ",") return undefined;
    at = skipSpaces(line, at + 1);
  }
}

function parseFlowMap(line: string, start: number, depth: number): Parsed | undefined {
  const value: { [key: string]: HeaderValue } = {};
  let at = skipSpaces(line, start + 1);
  if (line[at] === "}") return { value, end: at + 1 };
  for (;;) {
    const name = readFieldName(line, at, true);
    if (name === undefined || Object.hasOwn(value, name.key)) return undefined;
    const field = parseFlow(line, skipSpaces(line, name.end), depth + 1);
    if (field === undefined) return undefined;
    value[name.key] = field.value;
    at = skipSpaces(line, field.end);
    if (line[at] === "}") return { value, end: at + 1 };
    if (line[at] !== ",") return undefined;
    at = skipSpaces(line, at + 1);
  }
}

function skipSpaces(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === 32) at++;
  return at;
}

function endsLine(line: string, at: number): boolean {
  const next = skipSpaces(line, at);
  return next === line.length || (next > at && line[next] === "#");
}

function matchAt(sticky: RegExp, line: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.test(line) ? line.slice(at, sticky.lastIndex) : undefined;
}

function parseJsonString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
