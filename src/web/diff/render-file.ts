import { plural } from "../../model/text.ts";
import { Html, html, visible } from "../html.ts";
import type { Piece } from "./colours.ts";
import { pairRows } from "./pair-rows.ts";
import type { Hunk, PatchFile, Row } from "./parse-patch.ts";
import { type Stretch, stretchesOf } from "./parts.ts";
import { type Mark, wordMarks } from "./word-marks.ts";

/** Everything but the rows. The caller knows about findings; the renderer does not. */
export interface Rendering {
  /** The file's place in the whole diff; the beginning of every anchor, such as `f3R18`. */
  anchor: string;
  /** Rows in the colours of their language, by side and line number. */
  colours: { old: Lines | undefined; new: Lines | undefined };
  /** What is shown below a row, such as a finding; undefined for most rows. */
  below(side: "old" | "new", line: number): Html | undefined;
  /** Old and new side by side. */
  split: boolean;
  /** Where lines around the hunks can be asked for; undefined where only the patch is left. */
  more?: { above(hunk: number, upTo: number): string; below(from: number): string } | undefined;
}

type Lines = ReadonlyMap<number, readonly Piece[]>;

const CLASSES = { " ": "c", "+": "a", "-": "r" } as const;
const SIGNS = { " ": " ", "+": "+", "-": "−" } as const;

/** Rows of one table; larger files come in several, each in a box that the browser skips while it is out of sight. */
const ROWS_AT_ONCE = 100;
export const MANY_ROWS = 2_000;

/** The changes of one file as tables. A row is `old number, new number, text`; its sign is text, not only a colour. */
export function renderRows(
  file: PatchFile,
  rendering: Rendering,
  stretches: readonly Stretch[] = stretchesOf(file),
): Html {
  const { split, more } = rendering;
  const rows = stretches.flatMap(({ hunk, at, rows: some, isFirst }) => [
    ...(isFirst
      ? [heading(hunk, hiddenAbove(file, at, hunk.newStart), rendering, more?.above(at, hunk.newStart))]
      : []),
    ...renderHunk(some, rendering),
  ]);
  const end = lastOf(file);
  const isEnd = stretches.at(-1)?.rows.at(-1) === file.hunks.at(-1)?.rows.at(-1);
  if (end !== undefined && more && isEnd) rows.push(belowButton(end.line + 1, rendering));
  const size = rows.length > MANY_ROWS ? ROWS_AT_ONCE : rows.length;
  const tables: Html[] = [];
  for (let at = 0; at < rows.length; at += size)
    tables.push(table(file, rows.slice(at, at + size), at, split));
  return html`${tables}`;
}

function table(file: PatchFile, rows: readonly Html[], at: number, split: boolean): Html {
  const caption = at === 0 ? `Changes in ${file.path}` : `Changes in ${file.path}, continued`;
  const columns = split
    ? html`<col class="w"><col><col class="w"><col>`
    : html`<col class="w"><col class="w"><col>`;
  return html`<div class="rows"><table class="d${split && " split"}"><caption class="vh">${caption}</caption><colgroup>${columns}</colgroup><tbody>${rows}</tbody></table></div>`;
}

function renderHunk(rows: readonly Row[], rendering: Rendering): Html[] {
  const marks = wordMarks(rows);
  return rendering.split
    ? pairRows(rows).map((pair) => splitRow(pair, rendering, marks))
    : rows.map((row) => unifiedRow(row, rendering, marks));
}

/** How many lines are still hidden between line `upTo` and the hunk before. */
function hiddenAbove(file: PatchFile, hunk: number, upTo: number): number {
  const before = file.hunks[hunk - 1];
  const last = before?.rows.findLast((row) => row.new !== undefined)?.new ?? before?.newStart ?? 0;
  return Math.max(0, upTo - last - 1);
}

const LINES_AT_ONCE = 20;

function heading(hunk: Hunk, hidden: number, { split }: Rendering, src: string | undefined): Html {
  const some = Math.min(hidden, LINES_AT_ONCE);
  const more =
    hidden > 0 &&
    src !== undefined &&
    html`<button type="button" class="more" data-src="${src}">↑ ${some < hidden && `${some} of `}${plural(hidden, "line")} above</button> `;
  return html`<tr class="h"><td colspan="${split ? 4 : 3}">${more}${visible(hunk.heading)}</td></tr>`;
}

/** Some of the lines above a hunk, below its heading, which offers the rest. */
export function renderAbove(
  file: PatchFile,
  at: number,
  upTo: number,
  lines: readonly string[],
  rendering: Rendering,
): Html {
  const hunk = file.hunks[at];
  if (!hunk) return html``;
  const count = Math.min(hiddenAbove(file, at, upTo), LINES_AT_ONCE);
  const first = upTo - count;
  const apart = hunk.newStart - hunk.oldStart;
  const rows = lines.slice(first - 1, upTo - 1).map((text, index): Row => {
    const line = first + index;
    return { sign: " ", old: line - apart, new: line, text, endless: false };
  });
  const left = hiddenAbove(file, at, first);
  return html`<table><tbody>${heading(hunk, left, rendering, rendering.more?.above(at, first))}${renderHunk(rows, rendering)}</tbody></table>`;
}

/** Where the last hunk ends, if lines may follow it: at the end of a file there are fewer than three after a change. */
function lastOf(file: PatchFile): { line: number; apart: number } | undefined {
  const rows = file.hunks.at(-1)?.rows ?? [];
  const last = rows.at(-1);
  if (
    last?.new === undefined ||
    last.old === undefined ||
    rows.slice(-CONTEXT).some(({ sign }) => sign !== " ")
  )
    return undefined;
  return { line: last.new, apart: last.new - last.old };
}

const CONTEXT = 3;

const belowButton = (from: number, { split, more }: Rendering): Html =>
  html`<tr class="h"><td colspan="${split ? 4 : 3}"><button type="button" class="more" data-src="${more?.below(from)}">↓ lines below</button></td></tr>`;

/** Some of the lines after the last hunk, and the offer of the rest. */
export function renderBelow(
  file: PatchFile,
  from: number,
  lines: readonly string[],
  rendering: Rendering,
): Html {
  const end = lastOf(file);
  // After the last newline there is no further line.
  const all = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  if (!end || !Number.isInteger(from) || from <= end.line) return html``;
  const rows = all.slice(from - 1, from - 1 + LINES_AT_ONCE).map((text, index): Row => {
    const line = from + index;
    return { sign: " ", old: line - end.apart, new: line, text, endless: false };
  });
  const next = from + rows.length;
  return html`<table><tbody>${renderHunk(rows, rendering)}${next <= all.length && belowButton(next, rendering)}</tbody></table>`;
}

type Marks = ReadonlyMap<Row, Mark>;

function unifiedRow(row: Row, { anchor, colours, below }: Rendering, marks: Marks): Html {
  const { side, line } = placeOf(row);
  return html`<tr class="${CLASSES[row.sign]}" id="${idOf(anchor, row)}"${row.new !== undefined && html` data-line="${row.new}"`}><td class="l">${row.old}</td><td class="l">${row.new}</td>${text(row, colours, marks)}</tr>${below(side, line)}`;
}

function splitRow(
  { left, right }: ReturnType<typeof pairRows>[number],
  { anchor, colours, below }: Rendering,
  marks: Marks,
): Html {
  const row = right ?? left;
  if (!row) return html``;
  const kind = left === right ? "c" : right ? "a" : "r";
  const notes = [left !== right && left, right].map((one) => one && belowOf(one, below));
  return html`<tr class="${kind}" id="${idOf(anchor, row)}"${row.new !== undefined && html` data-line="${row.new}"`}><td class="l old${left && left !== right && " r"}">${left?.old}</td>${left ? text(left, colours, marks, left === right ? " old" : " old r") : html`<td class="t old none"></td>`}<td class="l">${right?.new}</td>${right ? text(right, colours, marks) : html`<td class="t none"></td>`}</tr>${notes}`;
}

const placeOf = (row: Row): { side: "old" | "new"; line: number } =>
  row.sign === "-" ? { side: "old", line: row.old ?? 0 } : { side: "new", line: row.new ?? 0 };

const belowOf = (row: Row, below: Rendering["below"]) => below(placeOf(row).side, placeOf(row).line);

function idOf(anchor: string, row: Row): string {
  const { side, line } = placeOf(row);
  return `${anchor}${side === "old" ? "L" : "R"}${line}`;
}

function text(row: Row, colours: Rendering["colours"], marks: Marks, more = ""): Html {
  const { side, line } = placeOf(row);
  const pieces = colours[side]?.get(line);
  const known = pieces && textOf(pieces) === row.text ? pieces : [{ text: row.text, colour: undefined }];
  const end = row.endless ? html`<span class="note">no newline at the end</span>` : undefined;
  return html`<td class="t${more}" data-s="${SIGNS[row.sign]}">${paint(known, marks.get(row))}${end}</td>`;
}

const textOf = (pieces: readonly Piece[]) => pieces.map((one) => one.text).join("");

/** Pieces with their colours, and the changed words inside `ins`, which may begin and end within a piece. */
function paint(pieces: readonly Piece[], mark: Mark | undefined): Html {
  let at = 0;
  let out = "";
  for (const { text: words, colour } of pieces) {
    const [from, to] = [(mark?.from ?? 0) - at, (mark?.to ?? 0) - at].map((one) =>
      Math.min(Math.max(one, 0), words.length),
    );
    const inside = visible(words.slice(from, to)).text;
    const whole = `${visible(words.slice(0, from)).text}${inside && `<ins>${inside}</ins>`}${visible(words.slice(to)).text}`;
    out += colour ? `<span class="${colour}">${whole}</span>` : whole;
    at += words.length;
  }
  return new Html(out);
}
