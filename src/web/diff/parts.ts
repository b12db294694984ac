import type { Hunk, PatchFile, Row } from "./parse-patch.ts";

/** As many rows as a browser takes in without a pause. */
export const ROWS_OF_A_PART = 500;

/** Some of a hunk's rows, or all of them. */
export interface Stretch {
  hunk: Hunk;
  /** Which hunk of the file it is. */
  at: number;
  rows: readonly Row[];
  /** Its heading stands above the first of its rows, and counts as a row. */
  isFirst: boolean;
}

/** The rows of a file, or of one part of it: a file of many thousands comes piece by piece. */
export function stretchesOf(file: PatchFile, part?: number): Stretch[] {
  const from = part === undefined ? 0 : part * ROWS_OF_A_PART;
  const to = part === undefined ? Number.POSITIVE_INFINITY : from + ROWS_OF_A_PART;
  let before = 0;
  return file.hunks.flatMap((hunk, at) => {
    const start = before;
    before += hunk.rows.length + 1;
    if (start >= to || before <= from) return [];
    const rows = hunk.rows.slice(Math.max(0, from - start - 1), Math.max(0, to - start - 1));
    return [{ hunk, at, rows, isFirst: start >= from }];
  });
}
