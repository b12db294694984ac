/**
 * Porter's stemmer as SQLite implements it. The index stems by itself; this twin only decides which words of a
 * snippet are marked, and a test holds the two together.
 */
export function stem(token: string): string {
  if (token.length < 3 || token.length > 60 || !/^[a-z0-9]+$/.test(token)) return token;
  let word = stepPlural(token);
  word = stepPast(word);
  if (word.length > 1 && word.endsWith("y") && hasVowel(word.slice(0, -1))) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(word, DERIVED, 0);
  word = replaceSuffix(word, ADJECTIVAL, 0);
  word = stepLongSuffix(word);
  return stepFinal(word);
}

const VOWEL = /[aeiou]/;

function isConsonant(word: string, at: number): boolean {
  const letter = word.charAt(at);
  if (VOWEL.test(letter)) return false;
  return letter !== "y" || at === 0 || !isConsonant(word, at - 1);
}

/** How many times a vowel group is followed by a consonant. */
function measure(word: string): number {
  let count = 0;
  for (let at = 1; at < word.length; at++) if (isConsonant(word, at) && !isConsonant(word, at - 1)) count++;
  return count;
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (!isConsonant(word, at)) return true;
  return false;
}

function endsInShortSyllable(word: string): boolean {
  const end = word.length - 1;
  if (end < 2 || !isConsonant(word, end) || isConsonant(word, end - 1) || !isConsonant(word, end - 2))
    return false;
  return !/[wxy]$/.test(word);
}

function stepPlural(word: string): string {
  if (/.(?:sses|ies)$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function stepPast(word: string): string {
  if (/.eed$/.test(word)) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ["ed", "ing"].find((ending) => word.endsWith(ending));
  if (!suffix || !hasVowel(word.slice(0, -suffix.length))) return word;
  const rest = word.slice(0, -suffix.length);
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/([^aeiou])\1$/.test(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1);
  return measure(rest) === 1 && endsInShortSyllable(rest) ? `${rest}e` : rest;
}

type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

const DERIVED: Suffixes = [
  ...([
    ["ational", "ate"],
    ["tional", "tion"],
    ["enci", "ence"],
    ["anci", "ance"],
    ["izer", "ize"],
  ] as const),
  ...([
    ["logi", "log"],
    ["bli", "ble"],
    ["alli", "al"],
    ["entli", "ent"],
    ["eli", "e"],
    ["ousli", "ous"],
  ] as const),
  ...([
    ["ization", "ize"],
    ["ation", "ate"],
    ["ator", "ate"],
    ["alism", "al"],
    ["iveness", "ive"],
  ] as const),
  ...([
    ["fulness", "ful"],
    ["ousness", "ous"],
    ["aliti", "al"],
    ["iviti", "ive"],
    ["biliti", "ble"],
  ] as const),
];

const ADJECTIVAL: Suffixes = [
  ...([
    ["ical", "ic"],
    ["ness", ""],
    ["icate", "ic"],
    ["iciti", "ic"],
  ] as const),
  ...([
    ["ful", ""],
    ["ative", ""],
    ["alize", "al"],
  ] as const),
];

const LONG_SUFFIX =
  /(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/;

function replaceSuffix(word: string, suffixes: Suffixes, above: number): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const rest = word.slice(0, -found[0].length);
  return measure(rest) > above ? rest + found[1] : word;
}

function stepLongSuffix(word: string): string {
  const suffix = LONG_SUFFIX.exec(word)?.[0];
  if (!suffix) return word;
  const rest = word.slice(0, -suffix.length);
  return measure(rest) > 1 ? rest : word;
}

function stepFinal(word: string): string {
  let result = word;
  if (result.endsWith("e")) {
    const rest = result.slice(0, -1);
    const count = measure(rest);
    if (count > 1 || (count === 1 && !endsInShortSyllable(rest))) result = rest;
  }
  return result.endsWith("ll") && measure(result.slice(0, -1)) > 1 ? result.slice(0, -1) : result;
}
