import { WEIGHTS } from "./question.ts";
import { COLUMNS, numbersOf, type QuickFile, startsOf, WIDTH } from "./quick-file.ts";
import { stem } from "./stem.ts";
import { type Choice, choicesFor, isAscii, type Word } from "./words.ts";

/** More are better left to the engine, which stops early where nothing can match. */
const MOST_PHRASES = 24;
/** The stemmer here and the one of SQLite are known to agree up to this length. */
const LONGEST_TOKEN = 60;

export interface Phrase {
  tokens: string[];
  isPrefix: boolean;
  isNameOnly: boolean;
  /** Which of the user's words it stands for. */
  word: number;
}

/** undefined when only the engine knows what these words are. */
export function phrasesOf(words: readonly Word[]): Phrase[] | undefined {
  const phrases = words.flatMap((typed, word) =>
    choicesFor(typed).map((choice) => ({ ...choice, tokens: tokensOf(choice), word })),
  );
  const isPlain = words.every(({ text }) => isAscii(text)) && phrases.length <= MOST_PHRASES;
  const isKnown = ({ tokens }: Phrase) =>
    tokens.length > 0 && tokens.every((token) => token.length <= LONGEST_TOKEN);
  return isPlain && phrases.every(isKnown) ? phrases : undefined;
}

function tokensOf({ text }: Choice): string[] {
  const tokens = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return tokens.map((token) => (token.length > LONGEST_TOKEN ? token : stem(token)));
}

/** For each phrase and row the number of places, each weighed by its column; undefined when the file is damaged. */
export function countPhrases(
  file: QuickFile,
  table: Uint32Array,
  phrases: readonly Phrase[],
): Uint32Array[] | undefined {
  const placesOf = placesReader(file);
  if (!placesOf) return undefined;
  const starts = startsOf(table, COLUMNS.tokens);
  const known = new Map<Uint32Array, Uint32Array>();
  const frequencies: Uint32Array[] = [];
  for (const { tokens, isPrefix, isNameOnly } of phrases) {
    const lists: Uint32Array[] = [];
    for (const [index, token] of tokens.entries()) {
      const places = placesOf(token, isPrefix && index === tokens.length - 1);
      if (!places) return undefined;
      lists.push(places);
    }
    const first = lists[0] as Uint32Array;
    // A word and its continuations are often the same places.
    const isPlain = tokens.length === 1 && !isNameOnly;
    const frequency =
      (isPlain && known.get(first)) || weigh(table, starts, first, lists.slice(1), isNameOnly);
    if (isPlain) known.set(first, frequency);
    frequencies.push(frequency);
  }
  return frequencies;
}

/** The numbers of a term in `uses`. */
const USES_WIDTH = 2;

function placesReader(file: QuickFile) {
  const terms = file.section("terms")?.toString("latin1").split("\n");
  const useBytes = file.section("uses");
  if (!terms || !useBytes) return undefined;
  const uses = numbersOf(useBytes);
  const starts = startsOf(uses, 0, USES_WIDTH);
  const seen = new Map<number, Uint32Array>();
  const read = (term: number) => {
    const before = seen.get(term);
    if (before) return before;
    const [count = 0, sum = 0] = uses.subarray(term * USES_WIDTH);
    const bytes = file.part("places", (starts[term] ?? 0) * 4, count * 4, sum);
    const places = bytes && numbersOf(bytes);
    if (places) seen.set(term, places);
    return places;
  };
  return (token: string, isPrefix: boolean): Uint32Array | undefined => {
    if (isPrefix)
      return merge(terms.flatMap((term, number) => (term.startsWith(token) ? [read(number)] : [])));
    const number = terms.indexOf(token);
    return number < 0 ? new Uint32Array(0) : read(number);
  };
}

function merge(lists: (Uint32Array | undefined)[]): Uint32Array | undefined {
  if (lists.length === 1) return lists[0];
  const merged = new Uint32Array(lists.reduce((sum, list) => sum + (list?.length ?? 0), 0));
  let done = 0;
  for (const list of lists) {
    if (!list) return undefined;
    merged.set(list, done);
    done += list.length;
  }
  return merged.sort();
}

/** Whole numbers and few calls: this runs before anything of it is compiled. */
function weigh(
  table: Uint32Array,
  starts: Uint32Array,
  first: Uint32Array,
  rest: Uint32Array[],
  isNameOnly: boolean,
): Uint32Array {
  const frequency = new Uint32Array(starts.length - 1);
  const follows = rest.map(follower);
  const [inNames, inTitle, inText] = WEIGHTS;
  let row = -1;
  let end = 0;
  let titleAt = 0;
  let textAt = 0;
  for (let index = 0; index < first.length; index++) {
    const place = first[index] as number;
    while (end <= place) {
      row++;
      titleAt = end + (table[row * WIDTH + COLUMNS.names] as number);
      textAt = titleAt + (table[row * WIDTH + COLUMNS.title] as number);
      end = starts[row + 1] as number;
    }
    const columnEnd = place < titleAt ? titleAt : place < textAt ? textAt : end;
    if (isNameOnly && place >= titleAt) continue;
    if (follows.length > 0 && !areNext(follows, place, columnEnd)) continue;
    const weight = place < titleAt ? inNames : place < textAt ? inTitle : inText;
    frequency[row] = (frequency[row] as number) + weight;
  }
  return frequency;
}

function areNext(follows: ((place: number) => boolean)[], place: number, end: number): boolean {
  return place + follows.length < end && follows.every((isAt, distance) => isAt(place + distance + 1));
}

/** Says whether a place is in the list, if it is asked for ever greater ones. */
function follower(places: Uint32Array): (place: number) => boolean {
  let at = 0;
  return (place) => {
    while (at < places.length && (places[at] as number) < place) at++;
    return places[at] === place;
  };
}
