import { editBlock } from "./header-block-edit.ts";
import { isCommentOrBlank, locateScalar } from "./header-inline.ts";
import { readLayout } from "./header-layout.ts";
import { applyLineEdits, type LineEdit, replaceInline, splitLines, withoutEol } from "./header-lines.ts";
import { blockLines, entryLines, printInline } from "./header-printer.ts";
import { type HeaderSection, locateSections, skipBlankLines } from "./header-sections.ts";
import { FrontMatterError, type HeaderValue, type PrintableValue, readsAs } from "./header-value.ts";

type Changes = Map<string, PrintableValue | undefined>;

const ANCHOR = /(?:^|[\s:,[{-])&([^\s,[\]{}]+)/g;

/**
 * Returns the header with only the lines of the changed keys different. `undefined` deletes a key, new keys go after
 * the last one; `current` is what reading `header` gave, in whatever YAML style it is written.
 */
export function editHeader(
  header: string,
  changes: Iterable<readonly [string, PrintableValue | undefined]>,
  current: ReadonlyMap<string, HeaderValue>,
  eol: "\n" | "\r\n",
): string {
  const wanted = dropUnchanged(changes, current);
  if (wanted.size === 0) return header;
  const lines = splitLines(header);
  const texts = lines.map(withoutEol);
  if (header !== "" && !header.endsWith("\n")) {
    throw new FrontMatterError(lines.length + 1, "The last line of the header has no line break.");
  }
  const sections = locateSections(texts, current);
  refuseUnlocated(wanted, current, sections);
  refuseLostAnchors(texts, sections, wanted);
  const edits = sectionEdits(lines, texts, sections, wanted, eol);
  const added = [...wanted].filter(([key]) => !current.has(key));
  const insert = added.flatMap(([key, value]) => entryLines(key, value as PrintableValue));
  const last = edits.at(-1);
  const at = Math.max(sections.at(-1)?.end ?? lines.length, last === undefined ? 0 : last.at + last.remove);
  return applyLineEdits(lines, [...edits, { at, remove: 0, insert }], eol).join("");
}

function dropUnchanged(
  changes: Iterable<readonly [string, PrintableValue | undefined]>,
  current: ReadonlyMap<string, HeaderValue>,
): Changes {
  const wanted: Changes = new Map(changes);
  for (const [key, next] of wanted) {
    const value = current.get(key);
    if (next === undefined ? value === undefined : value !== undefined && readsAs(next, value))
      wanted.delete(key);
  }
  return wanted;
}

function refuseUnlocated(
  wanted: Changes,
  current: ReadonlyMap<string, HeaderValue>,
  sections: readonly HeaderSection[],
): void {
  for (const key of wanted.keys()) {
    if (!current.has(key) || sections.some((section) => section.key === key)) continue;
    const line = sections.find((section) => section.key === undefined)?.start ?? 0;
    throw new FrontMatterError(
      line + 2,
      `Cannot find the line of "${key}:"; write the key plainly, without quotes.`,
    );
  }
}

/** Replacing an anchored value would leave the aliases elsewhere pointing at nothing. */
function refuseLostAnchors(
  texts: readonly string[],
  sections: readonly HeaderSection[],
  wanted: Changes,
): void {
  const linesOf = (section: HeaderSection) => texts.slice(section.start, section.end);
  // Inside the subset `&` and `*` are ordinary text, as in a title about `&self` and `*self`.
  const unusual = sections.filter((section) => readLayout(linesOf(section)) === undefined);
  const isChanged = (section: HeaderSection) => section.key !== undefined && wanted.has(section.key);
  const kept = unusual.filter((section) => !isChanged(section)).flatMap(linesOf);
  for (const section of unusual.filter(isChanged)) {
    for (const [, name] of linesOf(section).join("\n").matchAll(ANCHOR)) {
      if (!kept.some((line) => line.includes(`*${name}`))) continue;
      const problem = `"${section.key}" holds the anchor &${name}, used by another key.`;
      throw new FrontMatterError(section.start + 2, problem);
    }
  }
}

function sectionEdits(
  lines: readonly string[],
  texts: readonly string[],
  sections: readonly HeaderSection[],
  wanted: Changes,
  eol: "\n" | "\r\n",
): LineEdit[] {
  const edits: LineEdit[] = [];
  // Blank lines that a deletion moves under a `|+` scalar would become part of its value.
  let keptScalarEnd = -1;
  for (const section of sections) {
    const { key, start } = section;
    let end = section.end;
    if (key === undefined || !wanted.has(key)) {
      if (section.keepsBlankLines) keptScalarEnd = end;
      continue;
    }
    const next = wanted.get(key);
    if (next === undefined && start === keptScalarEnd) {
      end = skipBlankLines(texts, end);
      keptScalarEnd = end;
    }
    const insert = next === undefined ? [] : rewriteSection(lines.slice(start, end), key, next, eol);
    edits.push({ at: start, remove: end - start, insert });
  }
  return edits;
}

function rewriteSection(
  lines: readonly string[],
  key: string,
  next: PrintableValue,
  eol: "\n" | "\r\n",
): readonly string[] {
  const edited = editBlock(lines, next, eol);
  if (edited !== undefined) return edited;
  const keyLine = lines[0] as string;
  const below = lines.slice(1);
  const place = locateScalar(withoutEol(keyLine), keyLine.indexOf(":") + 1);
  const isOneLine = below.every((line) => isCommentOrBlank(withoutEol(line)));
  const isEmpty = place !== undefined && place.start === place.end;
  if (place === undefined || !(isOneLine || isEmpty)) return entryLines(key, next);
  const rest = isOneLine ? below : [];
  const block = blockLines(next);
  if (block === undefined) return [replaceInline(keyLine, place, printInline(next)), ...rest];
  return [keyLine.slice(0, place.start).trimEnd() + keyLine.slice(place.end), ...block, ...rest];
}
