import { Html, html, visible } from "../html.ts";
import type { Piece } from "./colours.ts";
import type { Hunk, PatchFile, Row } from "./parse-patch.ts";
import { type Mark, wordMarks } from "./word-marks.ts";

/** What stands beside the rows: who calls knows about findings, the renderer does not. */
export interface Rendering {
  /** The file's place in the whole diff; the beginning of every anchor, such as `f3R18`. */
  anchor: string;
  /** Rows in the colours of their language, by side and line number. */
  colours: { old: Lines | undefined; new: Lines | undefined };
  /** What follows a row, such as a finding on it; undefined for most. */
  below(side: "old" | "new", line: number): Html | undefined;
  /** Whether lines around a hunk can be asked for. */
  expandable: boolean;
}

type Lines = ReadonlyMap<number, readonly Piece[]>;

const CLASSES = { " ": "c", "+": "a", "-": "r" } as const;
const SIGNS = { " ": " ", "+": "+", "-": "−" } as const;

/** Rows of one table; larger files come in several, each in a box that the browser skips while it is out of sight. */
const ROWS_AT_ONCE = 100;
const MANY_ROWS = 2_000;

/** The changes of one file as tables. A row is `old number, new number, text`; its sign is text, not only a colour. */
export function renderRows(file: PatchFile, { anchor, colours, below, expandable }: Rendering): Html {
  const rows = file.hunks.flatMap((hunk, at) => {
    const marks = wordMarks(hunk.rows);
    const previous = file.hunks[at - 1];
    return [
      renderHeading(hunk, anchor, expandable ? hiddenAbove(hunk, previous) : 0),
      ...hunk.rows.map((row) => renderRow(row, anchor, colours, marks.get(row), below)),
    ];
  });
  const size = rows.length > MANY_ROWS ? ROWS_AT_ONCE : rows.length;
  const tables: Html[] = [];
  for (let at = 0; at < rows.length; at += size) tables.push(table(file, rows.slice(at, at + size), at));
  return html`${tables}`;
}

function table(file: PatchFile, rows: readonly Html[], at: number): Html {
  const caption = at === 0 ? `Changes in ${file.path}` : `Changes in ${file.path}, continued`;
  return html`<div class="rows"><table class="d"><caption class="vh">${caption}</caption><colgroup><col class="w"><col class="w"><col></colgroup><tbody>${rows}</tbody></table></div>`;
}

/** How many lines lie between a hunk and the one before it. */
function hiddenAbove(hunk: Hunk, previous: Hunk | undefined): number {
  const last =
    previous?.rows.findLast((row) => row.new !== undefined)?.new ?? (previous ? previous.newStart : 0);
  return Math.max(0, hunk.newStart - last - 1);
}

function renderHeading(hunk: Hunk, anchor: string, hidden: number): Html {
  const more =
    hidden > 0 &&
    html`<button type="button" class="more" data-file="${anchor}" data-above="${hunk.newStart}" aria-label="Show ${hidden} more lines above">↑ ${hidden} lines</button> `;
  return html`<tr class="h"><td colspan="3">${more}${visible(hunk.heading)}</td></tr>`;
}

function renderRow(
  row: Row,
  anchor: string,
  colours: Rendering["colours"],
  mark: Mark | undefined,
  below: Rendering["below"],
): Html {
  const side = row.sign === "-" ? "old" : "new";
  const line = row[side] ?? 0;
  const pieces = colours[side]?.get(line);
  const known = pieces && textOf(pieces) === row.text ? pieces : [{ text: row.text, colour: undefined }];
  const end = row.endless ? html`<span class="note">no newline at the end</span>` : undefined;
  const id = `${anchor}${side === "old" ? "L" : "R"}${line}`;
  return html`<tr class="${CLASSES[row.sign]}" id="${id}"><td class="l">${row.old}</td><td class="l">${row.new}</td><td class="t" data-s="${SIGNS[row.sign]}">${paint(known, mark)}${end}</td></tr>${below(side, line)}`;
}

const textOf = (pieces: readonly Piece[]) => pieces.map((one) => one.text).join("");

/** Pieces with their colours, and the changed words inside `ins`, which may begin and end within a piece. */
function paint(pieces: readonly Piece[], mark: Mark | undefined): Html {
  let at = 0;
  let out = "";
  for (const { text, colour } of pieces) {
    const [from, to] = [(mark?.from ?? 0) - at, (mark?.to ?? 0) - at].map((one) =>
      Math.min(Math.max(one, 0), text.length),
    );
    const inside = visible(text.slice(from, to)).text;
    const whole = `${visible(text.slice(0, from)).text}${inside && `<ins>${inside}</ins>`}${visible(text.slice(to)).text}`;
    out += colour ? `<span class="${colour}">${whole}</span>` : whole;
    at += text.length;
  }
  return new Html(out);
}
