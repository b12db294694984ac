import { JsonDocument, type Occurrence } from "./json-document.ts";
import { damaged, takenByUser } from "./refusals.ts";
import { applyEdits, follow, locate } from "./splice.ts";
import { splitMark } from "./text-style.ts";
import type { Edit, Entry, EntryFile, Inserted, Json, Range } from "./types.ts";
import { sameValue } from "./values.ts";

/*
 * Entries of ours in a file of the user's. Everything here works on text and is pure. A file that cannot be read, or
 * has something else where our entries belong, is refused by a `Failure`; nothing is guessed. No result leaves here
 * before it was read again and found to hold every value and every comment of the user's, written as before.
 */

export interface EntryLook {
  at: string[];
  found: "absent" | "same" | "different";
  /** What is there. */
  value?: Json;
}

/** An entry with a comment inside it is "different": the comment is the user's, and would go with it. */
export function lookAtEntries(
  file: EntryFile,
  text: string | undefined,
  entries: readonly Entry[],
): EntryLook[] {
  const document = new JsonDocument(file, splitMark(text ?? "").text);
  return entries.map((entry) => {
    const [place] = document.occurrences(entry);
    if (!place) return { at: entry.at, found: "absent" };
    return { at: entry.at, found: isOurs(place, entry) ? "same" : "different", value: place.value };
  });
}

export interface Insertion {
  text: string;
  inserted: Inserted;
  /** What was not there before: ours from now on. An equal entry that the user had already stays the user's. */
  entries: Entry[];
}

/** Only inserts. */
export function insertEntries(
  file: EntryFile,
  before: string | undefined,
  entries: readonly Entry[],
): Insertion {
  const inserted: Inserted = { created: before === undefined, pieces: [], made: [] };
  return replaceEntries(file, before ?? "", [], entries, inserted);
}

/**
 * From the entries that an earlier insertion made to those that are wanted now: same paths keep their place and get the
 * new value, what is new is inserted, what is no longer wanted is taken out. Look before: a key is replaced whatever
 * its value is, so that a forced update can give the value that was found as the old one.
 */
export function replaceEntries(
  file: EntryFile,
  before: string,
  from: readonly Entry[],
  to: readonly Entry[],
  inserted: Inserted,
): Insertion {
  const { mark, text } = splitMark(before);
  const document = new JsonDocument(file, text);
  const pieces = locate(document, inserted.pieces, rangesOf(document, from));
  const { work, entries } = rewrite(file, { document, pieces, made: inserted.made }, from, to);
  return { text: mark + work.document.text, inserted: { ...inserted, ...written(work) }, entries };
}

/** The one place that changes a document, and compares the result with what was there before anybody gets to see it. */
function rewrite(file: EntryFile, start: Work, from: readonly Entry[], to: readonly Entry[]) {
  let work = start;
  const pairs = pairUp(from, to);
  for (const { old, now } of pairs) if (old && now) work = update(file, work, old, now);
  const ours = pairs.flatMap(({ old, now }) => (old && now ? [now] : []));
  const added = pairs.flatMap(({ old, now }) =>
    !old && now && isMissing(file, work.document, now) ? [now] : [],
  );
  work = insert(file, work, added);
  const obsolete = pairs.flatMap(({ old, now }) => (old && !now ? [old] : []));
  if (obsolete.length > 0) work = takeOutEmpty(file, takeOut(file, work, obsolete));
  const all = [...ours, ...added];
  const [gone, come] = [rangesOf(start.document, from), rangesOf(work.document, all)];
  if (!isUnchanged(start.document, gone, work.document, come, work.made)) throw damaged(file);
  return { work, entries: all.filter((entry) => work.document.occurrences(entry).length > 0) };
}

/**
 * Takes our entries out: exactly the inserted pieces where they are still as they were written, otherwise the entries
 * alone. `text` is undefined when nothing but ours was in the file. What the user changed stays and is in `left`.
 */
export function removeEntries(
  file: EntryFile,
  before: string,
  entries: readonly Entry[],
  inserted: Inserted,
): { text: string | undefined; exact: boolean; left: Entry[] } {
  const { mark, text } = splitMark(before);
  const document = new JsonDocument(file, text);
  const left = entries.filter((entry) => document.occurrences(entry).some((place) => !isOurs(place, entry)));
  const ours = entries.filter((entry) => !left.includes(entry) && document.occurrences(entry).length > 0);
  const exactly = left.length === 0 ? cutPieces(file, document, ours, inserted) : undefined;
  const { made } = inserted;
  const result = exactly ?? rewrite(file, { document, pieces: undefined, made }, ours, []).work.document.text;
  const nothing = inserted.created && result.trim() === "";
  return { text: nothing ? undefined : mark + result, exact: exactly !== undefined, left };
}

/** A document that is being changed, and where our pieces are in it as long as that can be said. */
interface Work {
  document: JsonDocument;
  pieces: Range[] | undefined;
  made: string[][];
}

function apply(file: EntryFile, work: Work, edits: Edit[]): Work {
  const document = new JsonDocument(file, applyEdits(work.document.text, edits));
  return { ...work, document, pieces: work.pieces && follow(work.pieces, edits) };
}

function insert(file: EntryFile, work: Work, entries: Entry[]): Work {
  if (entries.length === 0) return work;
  const { edits, made } = work.document.insertion(entries);
  return apply(file, { ...work, made: [...work.made, ...made] }, edits);
}

function update(file: EntryFile, work: Work, old: Entry, now: Entry): Work {
  const [place] = work.document.occurrences(old);
  if (!place || sameValue(place.value, now.value)) return work;
  return apply(file, work, [place.replacement(now.value)]);
}

/** One by one, because every removal moves the others. */
function takeOut(file: EntryFile, start: Work, entries: Entry[]): Work {
  let work = start;
  for (const entry of entries)
    for (let [place] = work.document.occurrences(entry); place; [place] = work.document.occurrences(entry))
      work = apply(file, work, place.removal());
  return work;
}

function takeOutEmpty(file: EntryFile, start: Work): Work {
  let work = start;
  const innermostFirst = [...work.made].sort((one, other) => other.length - one.length);
  for (const made of innermostFirst) {
    const edits = work.document.emptied(made);
    if (edits) work = apply(file, work, edits);
  }
  return work;
}

const written = ({ document, pieces, made }: Work) => ({
  pieces: (pieces ?? []).map(({ start, end }) => document.text.slice(start, end)),
  made,
});

/** Keys by their path, items of one array by their order. */
function pairUp(from: readonly Entry[], to: readonly Entry[]): { old?: Entry; now?: Entry }[] {
  const rest = [...to];
  const pairs: { old?: Entry; now?: Entry }[] = from.map((old) => {
    const index = rest.findIndex((now) => now.kind === old.kind && sameValue(now.at, old.at));
    const [now] = index < 0 ? [] : rest.splice(index, 1);
    return now ? { old, now } : { old };
  });
  return [...pairs, ...rest.map((now) => ({ now }))];
}

function isMissing(file: EntryFile, document: JsonDocument, entry: Entry): boolean {
  const [place] = document.occurrences(entry);
  if (place && !sameValue(place.value, entry.value))
    throw takenByUser(file, document.text, entry.at, place.range.start);
  return !place;
}

function cutPieces(
  file: EntryFile,
  document: JsonDocument,
  ours: Entry[],
  inserted: Inserted,
): string | undefined {
  const places = rangesOf(document, ours);
  const cuts = locate(document, inserted.pieces, places);
  if (!cuts || !places.every((place) => cuts.some((cut) => cut.start <= place.start && place.end <= cut.end)))
    return undefined;
  const result = applyEdits(
    document.text,
    cuts.map((range) => ({ ...range, text: "" })),
  );
  try {
    return isUnchanged(document, places, new JsonDocument(file, result), [], inserted.made)
      ? result
      : undefined;
  } catch {
    // The user has put something of theirs against ours: what the cut alone leaves is no longer a document.
    return undefined;
  }
}

function isOurs(place: Occurrence, entry: Entry): boolean {
  return !place.commented && sameValue(place.value, entry.value);
}

function rangesOf(document: JsonDocument, entries: readonly Entry[]): Range[] {
  return entries.flatMap((entry) => document.occurrences(entry)).map((place) => place.range);
}

/** Every value and every comment of the user's is in both, written the same way and in the same order. */
function isUnchanged(
  before: JsonDocument,
  gone: Range[],
  after: JsonDocument,
  come: Range[],
  made: string[][],
): boolean {
  const values = (document: JsonDocument, without: Range[]) => document.outline(without, made).join("\n");
  return values(before, gone) === values(after, come) && remarks(before, gone) === remarks(after, come);
}

/** The comments, in their order. One inside an entry goes with it; only a forced replacement takes such an entry. */
function remarks({ text, comments }: JsonDocument, without: Range[]): string {
  const isGone = (one: Range) => without.some(({ start, end }) => start <= one.start && one.end <= end);
  return comments.flatMap((one) => (isGone(one) ? [] : [text.slice(one.start, one.end)])).join("\n");
}
