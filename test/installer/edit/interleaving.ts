/** Whether `result` is `original` with exactly these pieces put in, in this order. */
export function isInterleaving(original: string, pieces: readonly string[], result: string): boolean {
  const [piece, ...rest] = pieces;
  if (piece === undefined) return original === result;
  for (let at = 0; at <= original.length; at++) {
    if (original[at - 1] !== result[at - 1]) return false;
    if (
      result.startsWith(piece, at) &&
      isInterleaving(original.slice(at), rest, result.slice(at + piece.length))
    )
      return true;
  }
  return false;
}
