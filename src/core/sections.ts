/**
 * The body of a record is Markdown under `## Heading` lines. A section that we write is plain Markdown; where its
 * text could be taken for the end of the section (headings, code fences, markers), it is wrapped in a pair of
 * comments instead, so that any text comes back exactly. Sections and text that we do not know stay as they are.
 */
export interface Section {
  heading: string;
  /** Offsets into the body: the whole section, heading line included, and its content alone. */
  start: number;
  contentStart: number;
  end: number;
  text: string;
}

const HEADING = /^## +(.*?)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const OPEN_MARK = /^<!-- text:(\d+) -->$/;

/** Finds every `## ` section of a body; text before the first heading belongs to none. */
export function findSections(body: string): Section[] {
  const sections: Section[] = [];
  let fence: string | undefined;
  let offset = 0;
  while (offset < body.length) {
    const { line, next } = lineAt(body, offset);
    const opened = FENCE.exec(line)?.[1];
    const heading = fence === undefined ? HEADING.exec(line) : null;
    if (heading) {
      const previous = sections.at(-1);
      if (previous) closeSection(body, previous, offset);
      sections.push({
        heading: heading[1] ?? "",
        start: offset,
        contentStart: next,
        end: body.length,
        text: "",
      });
      const skip = endOfMarked(body, next);
      if (skip !== undefined) {
        offset = skip;
        continue;
      }
    } else if (fence === undefined && opened) fence = opened;
    else if (fence !== undefined && opened?.startsWith(fence) && line.trim() === opened) fence = undefined;
    offset = next;
  }
  const last = sections.at(-1);
  if (last) closeSection(body, last, body.length);
  return sections;
}

export function printSection(heading: string, text: string, eol: string): string {
  return `## ${heading}${eol}${eol}${printContent(text).replaceAll("\n", eol)}${eol}`;
}

/**
 * Sets sections by heading and leaves every other byte alone; a heading that is missing is added at the end, one
 * whose text becomes empty is removed with its heading.
 */
export function editSections(body: string, changes: ReadonlyMap<string, string>, eol: string): string {
  let result = body;
  for (const [heading, text] of changes) result = editSection(result, heading, text, eol);
  return result;
}

function editSection(body: string, heading: string, text: string, eol: string): string {
  const existing = findSections(body).find((section) => section.heading === heading);
  if (!existing) {
    if (text === "") return body;
    const gap = body === "" || body.endsWith(eol + eol) ? "" : body.endsWith(eol) ? eol : eol + eol;
    return body + gap + printSection(heading, text, eol);
  }
  if (existing.text === text) return body;
  const rest = body.slice(existing.end);
  if (text === "") return body.slice(0, existing.start) + rest;
  const gap = rest === "" ? "" : eol;
  return body.slice(0, existing.start) + printSection(heading, text, eol) + gap + rest;
}

function closeSection(body: string, section: Section, end: number): void {
  section.end = end;
  section.text = readContent(body.slice(section.contentStart, end));
}

function readContent(raw: string): string {
  const text = raw
    .replaceAll("\r\n", "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .replace(/\s+$/, "");
  const first = text.indexOf("\n") < 0 ? text : text.slice(0, text.indexOf("\n"));
  const mark = OPEN_MARK.exec(first);
  if (!mark) return text;
  const close = `\n<!-- /text:${mark[1]} -->`;
  const end = text.indexOf(close, first.length);
  return end < 0 ? text : text.slice(first.length + 1, end);
}

function printContent(text: string): string {
  const risky =
    /^(?:#{1,2} |<!--)/m.test(text) || /^ {0,3}(?:`{3,}|~{3,})/m.test(text) || text !== text.trim();
  if (!risky) return text;
  let mark = 1;
  while (text.includes(`text:${mark} -->`)) mark++;
  return `<!-- text:${mark} -->\n${text}\n<!-- /text:${mark} -->`;
}

/** Where a marked text that begins at or after `from` ends, so that headings inside it are not looked at. */
function endOfMarked(body: string, from: number): number | undefined {
  let offset = from;
  while (offset < body.length) {
    const { line, next } = lineAt(body, offset);
    if (line.trim() === "") {
      offset = next;
      continue;
    }
    const mark = OPEN_MARK.exec(line);
    if (!mark) return undefined;
    const close = body.indexOf(`\n<!-- /text:${mark[1]} -->`, next - 1);
    return close < 0 ? undefined : lineAt(body, close + 1).next;
  }
  return undefined;
}

function lineAt(body: string, offset: number): { line: string; next: number } {
  const end = body.indexOf("\n", offset);
  const stop = end < 0 ? body.length : end;
  const line = body.slice(offset, stop > offset && body[stop - 1] === "\r" ? stop - 1 : stop);
  return { line, next: end < 0 ? body.length : end + 1 };
}
