import { diffComm } from "node-diff3";

const CONTEXT = 3;
const MOST = 60;

/** What would change in a file, as lines with `-` and `+` and a little of what is around them. */
export function showDiff(path: string, before: string, after: string): string {
  const rows: string[] = [];
  const lines = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split(/\r?\n/));
  for (const part of diffComm(lines(before), lines(after))) {
    if (part.common) rows.push(...part.common.map((line) => ` ${line}`));
    else rows.push(...part.buffer1.map((line) => `-${line}`), ...part.buffer2.map((line) => `+${line}`));
  }
  const isNear = rows.map((_, at) =>
    rows.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((row) => !row.startsWith(" ")),
  );
  const shown = rows.flatMap((row, at) => (isNear[at] ? [row] : isNear[at - 1] ? ["…"] : []));
  const rest = shown.length - MOST;
  const all = rest > 0 ? [...shown.slice(0, MOST), `… ${rest} more lines`] : shown;
  return [`--- ${path}`, `+++ ${path} (pawl)`, ...all].join("\n");
}
