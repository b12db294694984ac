import { Failure } from "../model/failure.ts";

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
  const near = suggestions(members.length > 0 ? members : ids, typed.replace(" ", ".")).map(
    (id) => `pawl ${id.replace(".", " ")}`,
  );
  throw new Failure("usage", "unknown_command", `There is no command "pawl ${typed}".`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.map((one) => `\`${one}\``).join(" or ")}? \`pawl --help\` lists all.`
        : "`pawl --help` lists all commands.",
    details: near.length > 0 ? { suggestion: near[0] } : {},
  });
}

const MOST_SUGGESTIONS = 3;

/** What was probably meant: what begins like it, a command that somebody knows by its second word, or a slip of the fingers. */
function suggestions(ids: readonly string[], typed: string): string[] {
  const shown = ids.filter((id) => !id.startsWith("hook."));
  const known = [...new Set([...shown, ...shown.map((id) => id.split(".")[0] ?? "")])];
  const begun = known.filter(
    (id) => typed.length > 1 && id.startsWith(typed) && (typed.includes(".") || !id.includes(".")),
  );
  const second = shown.filter((id) => id.endsWith(`.${typed}`));
  const slip = nearest(typed, known);
  const found = [begun, second, slip ? [slip] : []].find((some) => some.length > 0) ?? [];
  return found.slice(0, MOST_SUGGESTIONS);
}

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
