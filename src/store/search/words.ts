/** One word as the user typed it. It may hold several tokens (`src/store/lock.ts`), which then must be neighbours. */
export interface Word {
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
/** SQLite's C strings end at NUL, and half a surrogate pair is not a character. */
const UNSTORABLE = /[\0\p{Cs}]/gu;

/** Asked first everywhere: merely compiling a pattern with Unicode classes takes a millisecond. */
export function isAscii(text: string): boolean {
  return /^[\t-~]*$/.test(text);
}

export function storable(text: string): string {
  return isAscii(text) ? text : text.replace(UNSTORABLE, " ");
}

/** Distinct words that can match anything; with `all`, the last one counts as unfinished. */
export function parseWords(typed: string, match: "all" | "any"): Word[] {
  const texts = storable(typed).split(/\s+/).filter(hasToken);
  const last = texts.at(-1);
  if (last === undefined) return [];
  const distinct = new Map<string, Word>();
  for (const text of texts) {
    if (distinct.size >= MOST_WORDS) break;
    distinct.set(text.toLowerCase(), { text, isPrefix: false });
  }
  const lastKept = distinct.get(last.toLowerCase());
  if (lastKept && match === "all" && last.length >= SHORTEST_PREFIX) lastKept.isPrefix = isUnfinished(last);
  return [...distinct.values()];
}

function hasToken(text: string): boolean {
  return /[a-z0-9]/i.test(text) || (!isAscii(text) && TOKEN_CHARACTER.test(text));
}

function isUnfinished(text: string): boolean {
  return /[a-z0-9]$/i.test(text) || (!isAscii(text) && ENDS_IN_TOKEN_CHARACTER.test(text));
}

/** Every word becomes a quoted string, so that nothing a user types is ever FTS5 syntax. */
export function printMatch(words: readonly Word[], match: "all" | "any"): string {
  return words.map(printWord).join(match === "all" ? " AND " : " OR ");
}

/** One thing to look for in place of a word; each is counted for itself when hits are ranked. */
export interface Choice {
  text: string;
  isPrefix: boolean;
  isNameOnly: boolean;
}

export function choicesFor({ text, isPrefix }: Word): Choice[] {
  const choices = [{ text, isPrefix: false, isNameOnly: false }];
  // The whole word stays among the choices: it is rarer than its continuations, and so ranks above them.
  if (isPrefix) choices.push({ text, isPrefix, isNameOnly: false });
  const wholeId = wholeIdToken(text);
  if (wholeId) choices.push({ text: wholeId, isPrefix: false, isNameOnly: true });
  return choices;
}

function printWord(word: Word): string {
  const choices = choicesFor(word).map(printChoice);
  return choices.length === 1 ? choices.join() : `(${choices.join(" OR ")})`;
}

function printChoice({ text, isPrefix, isNameOnly }: Choice): string {
  return `${isNameOnly ? "names : " : ""}"${text.replaceAll('"', '""')}"${isPrefix ? " *" : ""}`;
}

/** A token that only the record with exactly this id has, so that `T0012` finds the task before its many parts. */
function wholeIdToken(id: string): string | undefined {
  const name = id.toLowerCase().replace(/[^a-z0-9]/g, "");
  return /\d$/.test(name) ? `id${name}` : undefined;
}

interface Humps {
  seen: RegExp;
  between: RegExp;
}

const HUMPS: Humps = {
  seen: /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u,
  between: /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u,
};
const ASCII_HUMPS: Humps = {
  seen: /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/,
  between: /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/,
};

/** The id, and the parts of `camelCase` names, which the tokenizer keeps in one piece. */
export function namesOf(document: { id: string; title: string; text: string }): string {
  const names = new Set([document.id, wholeIdToken(document.id) ?? ""]);
  for (const text of [document.title, document.text]) {
    const { seen, between } = isAscii(text) ? ASCII_HUMPS : HUMPS;
    if (!seen.test(text)) continue;
    for (const [token] of text.matchAll(tokenOf(text)))
      if (seen.test(token)) names.add(token.split(between).join(" "));
  }
  return [...names].join(" ").trim();
}

const TOKEN = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;
const ASCII_TOKEN = /[a-z0-9]+/gi;

/** What the tokenizer makes of this text, before folding and stemming. */
export function tokenOf(text: string): RegExp {
  return isAscii(text) ? ASCII_TOKEN : TOKEN;
}
