import type { Row } from "./parse-patch.ts";

/** The part of a line that differs from the one it replaced, as places in its text. */
export interface Mark {
  from: number;
  to: number;
}

/** With less in common than this, two lines count as different lines, not as one that was edited. */
const LEAST_COMMON = 0.3;

/** For runs of as many deletions as additions: what changed in each pair. Rows without a mark are not in the answer. */
export function wordMarks(rows: readonly Row[]): Map<Row, Mark> {
  const marks = new Map<Row, Mark>();
  for (let at = 0; at < rows.length; ) {
    const removed = run(rows, at, "-");
    const added = run(rows, at + removed.length, "+");
    if (removed.length > 0 && removed.length === added.length)
      for (const [index, old] of removed.entries()) markPair(old, added[index] as Row, marks);
    at += Math.max(1, removed.length + added.length);
  }
  return marks;
}

function run(rows: readonly Row[], from: number, sign: Row["sign"]): Row[] {
  let end = from;
  while (rows[end]?.sign === sign) end++;
  return rows.slice(from, end);
}

function markPair(old: Row, fresh: Row, marks: Map<Row, Mark>): void {
  const { before, after } = common(old.text, fresh.text);
  const longest = Math.max(old.text.length, fresh.text.length);
  if (before + after < longest * LEAST_COMMON) return;
  for (const row of [old, fresh])
    if (row.text.length - after > before) marks.set(row, { from: before, to: row.text.length - after });
}

/** How much two lines share at their beginning and at their end, in whole words. */
function common(one: string, other: string): { before: number; after: number } {
  const most = Math.min(one.length, other.length);
  let before = 0;
  while (before < most && one[before] === other[before]) before++;
  while (before > 0 && (splitsWord(one, before) || splitsWord(other, before))) before--;
  let after = 0;
  while (after < most - before && one.at(-1 - after) === other.at(-1 - after)) after++;
  while (after > 0 && (splitsWord(one, one.length - after) || splitsWord(other, other.length - after)))
    after--;
  return { before, after };
}

const WORD = /[\p{L}\p{N}_]/u;

/** Whether this place is inside a word, or between the halves of a surrogate pair. */
const splitsWord = (text: string, at: number) =>
  (WORD.test(text[at - 1] ?? "") && WORD.test(text[at] ?? "")) || /[\ud800-\udbff]/.test(text[at - 1] ?? "");
