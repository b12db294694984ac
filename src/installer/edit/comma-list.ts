import type { Edit, Range } from "./types.ts";

/** What stands between two brackets and is separated by commas: objects and arrays. */
interface CommaList {
  /** Just after the opening bracket. */
  open: number;
  /** At the closing bracket. */
  close: number;
  items: Range[];
}

interface ListInText {
  text: string;
  list: CommaList;
  comments: readonly Range[];
}

/** Where something appended goes: behind the last comment, so that it never comes between a line and its comment. */
export function endOfList(around: ListInText): {
  at: number;
  comma: number | undefined;
  trailing: boolean;
} {
  const { list } = around;
  const last = list.items.at(-1);
  const trailing = last ? commaAfter(around, list.items.length - 1) : undefined;
  const comment = commentsIn(around).at(-1);
  const content = trailing !== undefined ? trailing + 1 : (last?.end ?? list.open);
  return {
    at: Math.max(content, comment?.end ?? 0),
    comma: last && trailing === undefined ? last.end : undefined,
    trailing: trailing !== undefined,
  };
}

/** Takes one item out, with one comma and the white space that was its own. Comments stay. */
export function removeItem(around: ListInText, index: number): Edit[] {
  const { text, list } = around;
  const item = list.items[index] as Range;
  const after = commaAfter(around, index);
  const before = index > 0 ? commaAfter(around, index - 1) : undefined;
  const comma = after ?? before;
  const cuts: Range[] = [item];
  if (comma !== undefined) cuts.push({ start: comma, end: comma + 1 });
  if (list.items.length === 1 && commentsIn(around).length === 0)
    cuts.push({ start: list.open, end: list.close });
  else if (index < list.items.length - 1 && after !== undefined)
    cuts.push({ start: after + 1, end: skipSpace(text, after + 1) });
  else if (mayJoinLines(around, item.start, Math.max(item.end, (after ?? 0) + 1)))
    cuts.push({ start: spaceBefore(text, item.start), end: item.start });
  return joined(text, cuts);
}

/** The comma behind an item, past comments. */
function commaAfter({ text, list, comments }: ListInText, index: number): number | undefined {
  const until = list.items[index + 1]?.start ?? list.close;
  for (let at = (list.items[index] as Range).end; at < until; at++) {
    const comment = comments.find((one) => one.start === at);
    if (comment) at = comment.end - 1;
    else if (text[at] === ",") return at;
  }
  return undefined;
}

export function commaBefore(text: string, comments: readonly Range[], offset: number): Range | undefined {
  let at = spaceBefore(text, offset);
  for (let comment = endingAt(comments, at); comment; comment = endingAt(comments, at))
    at = spaceBefore(text, comment.start);
  return text[at - 1] === "," ? { start: at - 1, end: at } : undefined;
}

const endingAt = (comments: readonly Range[], offset: number) => comments.find((one) => one.end === offset);

export function commentsIn({ list, comments }: ListInText): Range[] {
  return comments.filter(
    (one) =>
      one.start >= list.open &&
      one.end <= list.close &&
      !list.items.some((item) => item.start <= one.start && one.end <= item.end),
  );
}

/** False where a comment to the end of the line comes before, and what follows would become part of it. */
function mayJoinLines({ text, comments }: ListInText, before: number, after: number): boolean {
  const end = spaceBefore(text, before);
  const comment = endingAt(comments, end);
  const toLineEnd = comment !== undefined && !text.startsWith("/*", comment.start);
  return !toLineEnd || /^[ \t]*\r?\n/.test(text.slice(after));
}

/** White space as JSON knows it; what else looks empty may be part of a comment. */
const SPACE = " \t\r\n";

function skipSpace(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && SPACE.includes(text[at] as string)) at++;
  return at;
}

function spaceBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && SPACE.includes(text[at - 1] as string)) at--;
  return at;
}

/** Cuts that touch, or have nothing but white space between them, are one cut. */
function joined(text: string, cuts: readonly Range[]): Edit[] {
  const edits: Edit[] = [];
  for (const cut of [...cuts].sort((one, other) => one.start - other.start)) {
    const last = edits.at(-1);
    if (last && skipSpace(text, last.end) >= cut.start) last.end = Math.max(last.end, cut.end);
    else edits.push({ ...cut, text: "" });
  }
  return edits;
}
