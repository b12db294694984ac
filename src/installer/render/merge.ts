import { diff3Merge } from "node-diff3";

export interface Merged {
  /** With both sides and the base between marks where they contradict each other. */
  text: string;
  conflicts: number;
}

const MARKS = { yours: "<<<<<<< yours", base: "||||||| before", theirs: "=======", end: ">>>>>>> pawl" };

/** Whether somebody left a merge half done in it. */
export function hasMarks(text: string): boolean {
  return text.split("\n").some((line) => line === MARKS.yours || line === MARKS.end);
}

/** Line by line; what both sides changed in the same way is no conflict. */
export function mergeThree(base: string, yours: string, theirs: string): Merged {
  const lines: string[] = [];
  let conflicts = 0;
  const regions = diff3Merge(yours.split("\n"), base.split("\n"), theirs.split("\n"));
  for (const { ok, conflict } of regions) {
    if (ok) lines.push(...ok);
    if (!conflict) continue;
    conflicts++;
    lines.push(MARKS.yours, ...conflict.a, MARKS.base, ...conflict.o, MARKS.theirs, ...conflict.b, MARKS.end);
  }
  return { text: lines.join("\n"), conflicts };
}
