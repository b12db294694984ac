import { Failure } from "../core/failure.ts";

const HELP = ["--help", "-h", "--json"];

/** Which operation the first words name, and what is left of them. */
export function findOperation(
  ids: readonly string[],
  words: readonly string[],
): { id: string; rest: string[] } | { group: string } {
  const [first, second] = words;
  if (first === undefined || first.startsWith("-")) return { id: "status", rest: [...words] };
  if (second !== undefined && ids.includes(`${first}.${second}`))
    return { id: `${first}.${second}`, rest: words.slice(2) };
  if (ids.includes(first)) return { id: first, rest: words.slice(1) };
  const members = ids.filter((id) => id.startsWith(`${first}.`));
  if (members.length > 0 && (second === undefined || HELP.includes(second))) return { group: first };
  const typed = members.length > 0 ? `${first} ${second}` : first;
  const known = members.length > 0 ? members : ids;
  const near = nearest(typed.replace(" ", "."), [...known, ...known.map((id) => id.split(".")[0] ?? "")]);
  throw new Failure("usage", "unknown_command", `There is no command "pawl ${typed}".`, {
    hint: near
      ? `Did you mean \`pawl ${near.replace(".", " ")}\`? \`pawl --help\` lists all.`
      : "`pawl --help` lists all commands.",
    details: near ? { suggestion: `pawl ${near.replace(".", " ")}` } : {},
  });
}

/** The closest of the known words, if it is close enough to be a slip of the fingers. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // Two letters that changed places are two edits, and the commonest slip of all.
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

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
