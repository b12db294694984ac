/**
 * The rows of a table in two tiers: those that `npm test` needs, and the others, which are proofs. For
 * `for (const { tags, rows } of inTiers(ROWS, isNeeded)) test.each(rows)("%s", { tags }, …)`.
 */
export function inTiers<T>(
  all: readonly T[],
  isNeeded: (row: T, index: number) => boolean,
): { tags: string[]; rows: T[] }[] {
  return [
    { tags: [], rows: all.filter(isNeeded) },
    { tags: ["proof"], rows: all.filter((row, index) => !isNeeded(row, index)) },
  ].filter(({ rows }) => rows.length > 0);
}
