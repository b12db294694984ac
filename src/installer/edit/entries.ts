import { readJson } from "./json-document.ts";
import { damaged, takenByUser } from "./refusals.ts";
import { applyEdits, follow, locate } from "./splice.ts";
import { splitMark } from "./text-style.ts";
import type { Document, Edit, Entry, EntryFile, Inserted, Json, Place, Range } from "./types.ts";
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
  const document = readJson(file, splitMark(text ?? "").text);
  return entries.map((entry) => {
    const [place] = document.places(entry);
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
  const { mark, text } = splitMark(before ?? "");
  const document = readJson(file, text);
  const missing = entries.filter((entry) => isMissing(file, document, entry));
  const inserted: Inserted = { created: before === undefined, pieces: [], made: [] };
  const work = insert(file, { document, pieces: [], made: [] }, missing);
  verify(file, document, [], work, missing);
  return { text: mark + work.document.text, inserted: { ...inserted, ...written(work) }, entries: missing };
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
  const document = readJson(file, text);
  const pieces = locate(document, inserted.pieces, rangesOf(document, from));
  let work: Work = { document, pieces, made: inserted.made };
  const pairs = pairUp(from, to);
  for (const { old, now } of pairs) if (old && now) work = update(file, work, old, now);
  const ours = pairs.flatMap(({ old, now }) => (old && now ? [now] : []));
  const added = pairs.flatMap(({ old, now }) =>
    !old && now && isMissing(file, work.document, now) ? [now] : [],
  );
  work = insert(file, work, added);
  const obsolete = pairs.flatMap(({ old, now }) => (old && !now ? [old] : []));
  if (obsolete.length > 0) work = takeOutEmpty(file, takeOut(file, work, obsolete));
  verify(file, document, rangesOf(document, from), work, [...ours, ...added]);
  const entries = [...ours, ...added].filter((entry) => work.document.places(entry).length > 0);
  return { text: mark + work.document.text, inserted: { ...inserted, ...written(work) }, entries };
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
  const document = readJson(file, text);
  const left = entries.filter((entry) => document.places(entry).some((place) => !isOurs(place, entry)));
  const ours = entries.filter((entry) => !left.includes(entry) && document.places(entry).length > 0);
  const exactly = left.length === 0 ? cutPieces(file, document, ours, inserted) : undefined;
  const result = exactly ?? structurally(file, document, ours, inserted);
  const nothing = inserted.created && result.trim() === "";
  return { text: nothing ? undefined : mark + result, exact: exactly !== undefined, left };
}

/** A document that is being changed, and where our pieces are in it as long as that can be said. */
interface Work {
  document: Document;
  pieces: Range[] | undefined;
  made: string[][];
}

function apply(file: EntryFile, work: Work, edits: Edit[]): Work {
  const document = readJson(file, applyEdits(work.document.text, edits));
  return { ...work, document, pieces: work.pieces && follow(work.pieces, edits) };
}

function insert(file: EntryFile, work: Work, entries: Entry[]): Work {
  if (entries.length === 0) return work;
  const { edits, made } = work.document.insertion(entries);
  return apply(file, { ...work, made: [...work.made, ...made] }, edits);
}

function update(file: EntryFile, work: Work, old: Entry, now: Entry): Work {
  const [place] = work.document.places(old);
  if (!place || sameValue(place.value, now.value)) return work;
  const edits = place.replacement(now.value);
  if (edits) return apply(file, work, edits);
  return insert(file, apply(file, work, place.removal()), [now]);
}

/** One by one, because every removal moves the others. */
function takeOut(file: EntryFile, start: Work, entries: Entry[]): Work {
  let work = start;
  for (const entry of entries)
    for (let [place] = work.document.places(entry); place; [place] = work.document.places(entry))
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

function isMissing(file: EntryFile, document: Document, entry: Entry): boolean {
  const [place] = document.places(entry);
  if (place && !sameValue(place.value, entry.value))
    throw takenByUser(file, document.text, entry.at, place.ranges[0]?.start ?? 0);
  return !place;
}

function cutPieces(
  file: EntryFile,
  document: Document,
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
    return isUnchanged(document, places, readJson(file, result), [], inserted.made) ? result : undefined;
  } catch {
    // The user has put something of theirs against ours: what the cut alone leaves is no longer a document.
    return undefined;
  }
}

function structurally(file: EntryFile, document: Document, ours: Entry[], inserted: Inserted): string {
  const start = { document, pieces: undefined, made: inserted.made };
  const work = takeOutEmpty(file, takeOut(file, start, ours));
  verify(file, document, rangesOf(document, ours), work, []);
  return work.document.text;
}

function isOurs(place: Place, entry: Entry): boolean {
  return !place.commented && sameValue(place.value, entry.value);
}

function rangesOf(document: Document, entries: readonly Entry[]): Range[] {
  return entries.flatMap((entry) => document.places(entry)).flatMap((place) => place.ranges);
}

function verify(
  file: EntryFile,
  before: Document,
  gone: Range[],
  { document, made }: Work,
  ours: Entry[],
): void {
  if (!isUnchanged(before, gone, document, rangesOf(document, ours), made)) throw damaged(file);
}

/** Every value and every comment of the user's is in both, written the same way and in the same order. */
function isUnchanged(
  before: Document,
  gone: Range[],
  after: Document,
  come: Range[],
  made: string[][],
): boolean {
  const values = (document: Document, without: Range[]) => document.outline(without, made).join("\n");
  return values(before, gone) === values(after, come) && remarks(before, gone) === remarks(after, come);
}

/** The comments, in their order. One inside an entry goes with it; only a forced replacement takes such an entry. */
function remarks({ text, comments }: Document, without: Range[]): string {
  const isGone = (one: Range) => without.some(({ start, end }) => start <= one.start && one.end <= end);
  return comments.flatMap((one) => (isGone(one) ? [] : [text.slice(one.start, one.end)])).join("\n");
}
