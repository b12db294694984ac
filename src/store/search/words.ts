/** One word as the user typed it. It may hold several tokens (`src/store/lock.ts`), which then must be neighbours. */
interface Word {
  text: string;
  /** The user may still be typing it, so that it also stands for longer words. */
  isPrefix: boolean;
}

/** Far beyond what anybody types; a whole record pasted as a query is cut here so that it stays fast. */
const MOST_WORDS = 128;
const SHORTEST_PREFIX = 3;
/** What SQLite's unicode61 takes for part of a token; everything else separates. */
const TOKEN_CHARACTER = /[\p{L}\p{N}\p{Co}]/u;
const ENDS_IN_TOKEN_CHARACTER = /[\p{L}\p{N}\p{Co}]$/u;
const TOKEN = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;

/**
 * Text as the index keeps it, on one line: SQLite's strings end at NUL, half a surrogate pair is not a character, and
 * the control characters mark what matched.
 */
export function storable(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}]+/gu, " ").trim();
}

/** An FTS5 expression, in which every word is a quoted string; undefined when nothing in it can match anything. */
export function matchFor(typed: string, match: "all" | "any"): string | undefined {
  const words = parseWords(typed, match);
  return words.length === 0 ? undefined : words.map(printWord).join(match === "all" ? " AND " : " OR ");
}

/** Distinct words that can match anything; with `all`, the last one counts as unfinished. */
function parseWords(typed: string, match: "all" | "any"): Word[] {
  const texts = storable(typed)
    .split(" ")
    .filter((text) => TOKEN_CHARACTER.test(text));
  const distinct = new Map<string, Word>();
  for (const text of texts) {
    if (distinct.size >= MOST_WORDS) break;
    distinct.set(text.toLowerCase(), { text, isPrefix: false });
  }
  const last = texts.at(-1) ?? "";
  const lastKept = distinct.get(last.toLowerCase());
  if (lastKept && match === "all" && last.length >= SHORTEST_PREFIX)
    lastKept.isPrefix = ENDS_IN_TOKEN_CHARACTER.test(last);
  return [...distinct.values()];
}

function printWord({ text, isPrefix }: Word): string {
  const quoted = `"${text.replaceAll('"', '""')}"`;
  const choices = [quoted];
  // The whole word stays among the choices: it is rarer than its continuations, and so ranks above them.
  if (isPrefix) choices.push(`${quoted} *`);
  const wholeId = wholeIdToken(text);
  if (wholeId) choices.push(`names : "${wholeId}"`);
  return choices.length === 1 ? quoted : `(${choices.join(" OR ")})`;
}

/** A token that only the record with exactly this id has, so that `T0012` finds the task before its many parts. */
function wholeIdToken(id: string): string | undefined {
  const name = id.toLowerCase().replace(/[^a-z0-9]/g, "");
  return /\d$/.test(name) ? `id${name}` : undefined;
}

const HUMP = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const BETWEEN_HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** The id, and the parts of `camelCase` names, which the tokenizer keeps in one piece. */
export function namesOf(document: { id: string; title: string; text: string }): string {
  const names = new Set([document.id, wholeIdToken(document.id) ?? ""]);
  for (const text of [document.title, document.text]) {
    if (!HUMP.test(text)) continue;
    for (const [token] of text.matchAll(TOKEN))
      if (HUMP.test(token)) names.add(token.split(BETWEEN_HUMPS).join(" "));
  }
  return [...names].join(" ").trim();
}
