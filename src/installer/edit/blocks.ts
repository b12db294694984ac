import { Failure } from "../../model/failure.ts";
import { applyEdits } from "./splice.ts";
import { gapBefore, lineStart, newlineOf, positionOf, splitMark, wholeLines } from "./text-style.ts";
import type { Edit, Inserted, Range } from "./types.ts";

/** Lines of ours in a text file of the user's. */
export interface Block {
  path: string;
  comment: "html" | "hash";
  /** Without the marks; line ends are `\n`. */
  body: string;
}

export type BlockLook = "absent" | "same" | "different" | "broken";

const MARKS = {
  html: { begin: "<!-- pawl:begin -->", end: "<!-- pawl:end -->" },
  hash: { begin: "# pawl:begin", end: "# pawl:end" },
};

export function lookAtBlock(text: string | undefined, block: Block): BlockLook {
  const found = find(text ?? "", block);
  if (found === "absent" || found === "broken") return found;
  const lines = (text ?? "").slice(found.start, found.end).replaceAll("\r\n", "\n");
  return lines === print(block, "\n") ? "same" : "different";
}

/** Appends the block. Where it is already, whatever it says, nothing is inserted. */
export function insertBlock(before: string | undefined, block: Block): { text: string; inserted: Inserted } {
  const { mark, text } = splitMark(before ?? "");
  const inserted: Inserted = { created: before === undefined, pieces: [], made: [] };
  if (whole(text, block)) return { text: mark + text, inserted };
  const newline = newlineOf(text);
  const ended = text === "" || text.endsWith("\n");
  const piece = gapBefore(text, newline) + print(block, newline) + (ended ? newline : "");
  return { text: mark + text + piece, inserted: { ...inserted, pieces: [piece] } };
}

/** The block's new text in the place of the old one, whatever that says: look at it before. */
export function updateBlock(
  before: string,
  block: Block,
  inserted: Inserted,
): { text: string; inserted: Inserted } {
  const { mark, text } = splitMark(before);
  const range = whole(text, block);
  if (!range) return { text: before, inserted };
  const body = print(block, newlineOf(text));
  const result = applyEdits(text, [{ ...range, text: body }]);
  const piece = pieceAround(text, range, inserted);
  const end = piece ? piece.end + result.length - text.length : 0;
  return {
    text: mark + result,
    inserted: { ...inserted, pieces: piece ? [result.slice(piece.start, end)] : [] },
  };
}

/** Takes the block out, whatever it says. `text` is undefined when the file was made for it and holds nothing else. */
export function removeBlock(
  before: string,
  block: Block,
  inserted: Inserted,
): { text: string | undefined; exact: boolean } {
  const { mark, text } = splitMark(before);
  const range = whole(text, block);
  if (!range) return { text: before, exact: inserted.pieces.length === 0 };
  const { edit, exact } = cutOut(text, range, inserted);
  const result = applyEdits(text, [edit]);
  const nothing = inserted.created && result.trim() === "";
  return { text: nothing ? undefined : mark + result, exact };
}

/** Takes lines of ours out, with the empty lines that were put around them where those are as they were. */
export function cutOut(text: string, range: Range, inserted: Inserted): { edit: Edit; exact: boolean } {
  const piece = pieceAround(text, range, inserted);
  return { edit: piece ? { ...piece, text: "" } : wholeLines(text, range), exact: piece !== undefined };
}

function print({ comment, body }: Block, newline: string): string {
  const { begin, end } = MARKS[comment];
  const lines = body.replace(/^\n+|\n+$/g, "").split("\n");
  // In Markdown, prettier sets a comment apart from what is next to it.
  const inner = comment === "html" ? ["", ...lines, ""] : lines;
  return [begin, ...inner, end].join(newline);
}

/** From the beginning of one mark to the end of the other. */
function find(text: string, block: Block): Range | "absent" | "broken" {
  const begins = linesThatSay(text, MARKS[block.comment].begin);
  const ends = linesThatSay(text, MARKS[block.comment].end);
  if (begins.length === 0 && ends.length === 0) return "absent";
  const [begin, second] = begins;
  const [end, third] = ends;
  if (!begin || !end || second || third || end.start < begin.end) return "broken";
  return { start: begin.start, end: end.end };
}

function linesThatSay(text: string, mark: string): Range[] {
  const found: Range[] = [];
  for (let start = text.indexOf(mark); start >= 0; start = text.indexOf(mark, start + 1)) {
    const end = start + mark.length;
    const line = lineStart(text, start);
    const alone = text.slice(line, start).trim() === "" && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end));
    if (alone) found.push({ start, end });
  }
  return found;
}

function whole(text: string, block: Block): Range | undefined {
  const found = find(text, block);
  if (found === "absent") return undefined;
  if (found !== "broken") return found;
  const { begin, end } = MARKS[block.comment];
  const mark = [...linesThatSay(text, begin), ...linesThatSay(text, end)].at(-1);
  const { line } = positionOf(text, mark?.start ?? 0);
  throw new Failure(
    "refused",
    "block_broken",
    `${block.path}, line ${line}: the marks \`${begin}\` and \`${end}\` are not one pair, so pawl cannot tell what is between them. The file was left as it is.`,
    {
      hint: `Leave one of each in ${block.path}, or none, then run the same command again.`,
      details: { path: block.path, line },
    },
  );
}

function pieceAround(text: string, range: Range, inserted: Inserted): Range | undefined {
  const [piece] = inserted.pieces;
  const start = piece ? range.start - piece.indexOf(text.slice(range.start, range.end)) : 0;
  if (!piece || start > range.start || start < 0 || !text.startsWith(piece, start)) return undefined;
  // One line end above the block is an empty line of ours; after a line of the user's that came since, it ends that one.
  if (/^\r?\n[^\r\n]/.test(piece) && text[start - 1] !== "\n") return undefined;
  const end = start + piece.length;
  // Around the block we put empty lines and nothing else, whatever a ledger says.
  const around = text.slice(start, range.start) + text.slice(range.end, end);
  return around.trim() === "" ? { start, end } : undefined;
}
