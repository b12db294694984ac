/**
 * The body of a record is Markdown under `## Heading` lines. A section that we write is plain Markdown; where its
 * text could be taken for the end of the section (headings, code fences, comments), it is wrapped in a pair of
 * marks instead, so that any text comes back exactly. Sections and text that we do not know stay as they are.
 */
export interface Section {
  heading: string;
  /** Offsets into the body: the whole section with its heading line, and the part that is ours to replace. */
  start: number;
  end: number;
  own: { start: number; end: number };
  text: string;
  marked: boolean;
}

const HEADING = /^(#{1,2}) +(.*?)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const OPEN_MARK = /^<!-- text:(\d+) -->$/;

/** Finds every section of a body; text before the first heading belongs to none. */
export function findSections(body: string): Section[] {
  const sections: Section[] = [];
  let fence: string | undefined;
  let offset = 0;
  while (offset < body.length) {
    const { line, next } = lineAt(body, offset);
    const opened = FENCE.exec(line)?.[1];
    const heading = fence === undefined ? HEADING.exec(line) : null;
    if (heading) {
      closeLast(body, sections, offset);
      const mark = findMarked(body, next);
      sections.push(openSection(heading, offset, next, body, mark));
      offset = mark?.end ?? next;
      continue;
    }
    if (fence === undefined && opened) fence = opened;
    else if (fence !== undefined && opened?.startsWith(fence) && line.trim() === opened) fence = undefined;
    offset = fence === undefined ? endOfComment(body, offset, line, next) : next;
  }
  closeLast(body, sections, body.length);
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
  const { own } = existing;
  const [before, rest] = [body.slice(0, own.start), body.slice(own.end)];
  const remark = body.slice(own.end, existing.end).trim() !== "";
  if (text === "" && !remark) return body.slice(0, existing.start) + body.slice(existing.end);
  // With a remark of the user's below it, only the marks tell our text from theirs.
  const content = printContent(text, remark).replaceAll("\n", eol);
  if (existing.marked) return before + content + eol + rest;
  const open = before.endsWith(eol) ? eol : eol + eol;
  return before + open + content + eol + (rest === "" ? "" : eol) + rest;
}

function openSection(
  [, level, name]: RegExpExecArray,
  start: number,
  contentStart: number,
  body: string,
  mark: Marked | undefined,
): Section {
  return {
    // A first-level heading is never ours, whatever it says.
    heading: level === "##" ? (name ?? "") : `# ${name}`,
    start,
    end: body.length,
    own: mark ? { start: mark.start, end: mark.end } : { start: contentStart, end: body.length },
    text: mark?.text ?? "",
    marked: mark !== undefined,
  };
}

function closeLast(body: string, sections: Section[], end: number): void {
  const last = sections.at(-1);
  if (!last) return;
  last.end = end;
  if (last.marked) return;
  last.own.end = end;
  last.text = body
    .slice(last.own.start, end)
    .replaceAll("\r\n", "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .replace(/\s+$/, "");
}

function printContent(text: string, always = false): string {
  const risky =
    always || /^(?:#{1,2} |<!--)/m.test(text) || /^ {0,3}(?:`{3,}|~{3,})/m.test(text) || text !== text.trim();
  if (!risky) return text;
  let mark = 1;
  while (text.includes(`text:${mark} -->`)) mark++;
  return `<!-- text:${mark} -->\n${text}\n<!-- /text:${mark} -->`;
}

interface Marked {
  start: number;
  end: number;
  text: string;
}

/** The marked text that a section begins with, if it does; nothing inside it is looked at. */
function findMarked(body: string, from: number): Marked | undefined {
  for (let offset = from; offset < body.length; ) {
    const { line, next } = lineAt(body, offset);
    if (line.trim() !== "") {
      const mark = OPEN_MARK.exec(line);
      const close = mark ? body.indexOf(`\n<!-- /text:${mark[1]} -->`, next - 1) : -1;
      if (close < 0) return undefined;
      const text = close < next ? "" : body.slice(next, close).replaceAll("\r\n", "\n").replace(/\r$/, "");
      return { start: offset, end: lineAt(body, close + 1).next, text };
    }
    offset = next;
  }
  return undefined;
}

/** Headings inside a comment of several lines are hidden text, and no sections. */
function endOfComment(body: string, offset: number, line: string, next: number): number {
  if (!/^ {0,3}<!--/.test(line) || line.includes("-->")) return next;
  const close = body.indexOf("-->", offset);
  return close < 0 ? next : lineAt(body, close).next;
}

function lineAt(body: string, offset: number): { line: string; next: number } {
  const end = body.indexOf("\n", offset);
  const stop = end < 0 ? body.length : end;
  const line = body.slice(offset, stop > offset && body[stop - 1] === "\r" ? stop - 1 : stop);
  return { line, next: end < 0 ? body.length : end + 1 };
}
