import type { Row } from "./parse-patch.ts";

/** Two rows side by side; an unchanged line is on both sides. */
export interface Pair {
  left: Row | undefined;
  right: Row | undefined;
}

/** Pairs deletions with the additions that follow them; the surplus of the longer side stands alone. */
export function pairRows(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  let [removed, added]: [Row[], Row[]] = [[], []];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push({ left: removed[at], right: added[at] });
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    // A deletion after additions begins another change.
    if (row.sign === " " || (row.sign === "-" && added.length > 0)) flush();
    if (row.sign === "-") removed.push(row);
    else if (row.sign === "+") added.push(row);
    else pairs.push({ left: row, right: row });
  }
  flush();
  return pairs;
}
