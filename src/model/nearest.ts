/** The closest of the known words, if it is close enough to be a slip of the fingers. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = (word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1;
  for (const candidate of known) {
    const distance = editDistance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Two letters that changed places are one edit: it is the commonest slip of all. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const cheapest = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced);
      next[j] = swapped ? Math.min(cheapest, (before[j - 2] ?? 0) + 1) : cheapest;
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
