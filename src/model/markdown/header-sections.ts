import { FrontMatterError, type HeaderValue } from "./header-value.ts";

/** The lines of one top-level key in any YAML style; `end` is exclusive. */
export interface HeaderSection {
  /** `undefined` for a key we never edit: quoted, or with spaces or other unusual characters. */
  key: string | undefined;
  start: number;
  end: number;
  /** Ends in a `|+` block scalar, whose trailing blank lines are part of its value. */
  keepsBlankLines: boolean;
}

const KEY_LINE =
  /^(?:([A-Za-z_][A-Za-z0-9_-]*)|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'{}[\],#&*!|>@`%?:-][^#]*?) *:(?:[ \t]|$)/;
/** Nested content; lists may stand at column 0 under their key, and so may the bracket that closes a flow value. */
const CONTINUATION = /^(?:[ \t]|-(?:\s|$)|[\]}])/;
const KEEP_SCALAR = /[\s:-][|>](?:\d?\+|\+\d)\s*(?:#.*)?$/;

/**
 * Finds every top-level key. In a block mapping only keys, comments, list items and closing brackets can stand at
 * column 0, whatever the style of the values; anything that contradicts `current` is refused, not guessed at.
 */
export function locateSections(
  lines: readonly string[],
  current: ReadonlyMap<string, HeaderValue>,
): HeaderSection[] {
  const sections: HeaderSection[] = [];
  for (const [index, line] of lines.entries()) {
    if (isBlank(line) || line.startsWith("#")) continue;
    const section = sections.at(-1);
    if (CONTINUATION.test(line) && section !== undefined) section.end = index + 1;
    else sections.push(startSection(line, index, current));
  }
  if (sections.length !== current.size) {
    throw new FrontMatterError(2, `${current.size} keys were read, but ${sections.length} can be located.`);
  }
  for (const section of sections) keepTrailingBlankLines(section, lines);
  return sections;
}

/** The first line from `at` on that is not blank. */
export function skipBlankLines(lines: readonly string[], at: number): number {
  let next = at;
  while (next < lines.length && isBlank(lines[next] as string)) next++;
  return next;
}

function startSection(line: string, index: number, current: ReadonlyMap<string, HeaderValue>): HeaderSection {
  const match = KEY_LINE.exec(line);
  if (match === null) {
    throw new FrontMatterError(index + 2, "Expected `key: value` at the start of this line.");
  }
  const key = match[1];
  if (key !== undefined && !current.has(key)) {
    throw new FrontMatterError(index + 2, `The key "${key}" stands here, but was not read as a key.`);
  }
  return { key, start: index, end: index + 1, keepsBlankLines: false };
}

function keepTrailingBlankLines(section: HeaderSection, lines: readonly string[]): void {
  section.keepsBlankLines = lines.slice(section.start, section.end).some((line) => KEEP_SCALAR.test(line));
  if (section.keepsBlankLines) section.end = skipBlankLines(lines, section.end);
}

function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}
