import type { Changes } from "./changes.ts";
import { type Scan, UNSETTLED } from "./freshness.ts";
import { identityOf } from "./generation.ts";
import { type Entry, extractAll, extractSome, type Terms } from "./quick-extract.ts";
import {
  COLUMNS,
  checksum,
  numbersOf,
  type QuickContent,
  type QuickFile,
  type QuickHeader,
  startsOf,
  WIDTH,
  withQuickFile,
  writeQuickFile,
} from "./quick-file.ts";
import type { Facts } from "./quick-ranking.ts";
import { type About, readAbout, readSignatures } from "./schema.ts";
import type { Connection } from "./sqlite.ts";

/** Above these, reading the whole side file takes about as long as asking the engine. */
const MOST_FILES = 12_000;
const MOST_BYTES = 24 * 2 ** 20;

export interface Draft {
  about: About;
  content: QuickContent | undefined;
}

interface Holdings {
  terms: Terms;
  entries: Entry[];
}

/** The side file of the generation that is being made; from what the one before holds, if that is at hand. */
export function draftQuickFile(
  connection: Connection,
  held: Holdings | undefined,
  changed: readonly string[],
): Draft {
  const about = readAbout(connection);
  try {
    const holdings = isSmall(connection, about) ? collect(connection, held, changed) : undefined;
    return { about, content: holdings && encode(holdings, readSignatures(connection)) };
  } catch {
    return { about, content: undefined };
  }
}

function isSmall(connection: Connection, { files }: About): boolean {
  if (files > MOST_FILES) return false;
  const [row] = connection.rows<{ size: number | null }>("SELECT sum(length(text)) AS size FROM texts");
  return (row?.size ?? 0) <= MOST_BYTES;
}

function collect(
  connection: Connection,
  held: Holdings | undefined,
  changed: readonly string[],
): Holdings | undefined {
  const terms: Terms = held?.terms ?? new Map();
  if (!held) {
    const entries = extractAll(connection, terms);
    return entries && { terms, entries };
  }
  const isChanged = new Set(changed);
  const fresh = changed.length === 0 ? [] : extractSome(connection, terms, changed);
  return fresh && { terms, entries: [...held.entries.filter(({ path }) => !isChanged.has(path)), ...fresh] };
}

function encode({ terms, entries }: Holdings, signatures: Map<string, string>): QuickContent | undefined {
  const table = new Uint32Array(entries.length * WIDTH);
  for (const [row, { facts, words, names, title, text, textSum }] of entries.entries())
    table.set([facts.length, checksum(facts), names, title, words.length, text.length, textSum], row * WIDTH);
  const { uses, places } = invert(terms.size, entries);
  const content: QuickContent = {
    table: Buffer.from(table.buffer),
    terms: Buffer.from([...terms.keys()].join("\n"), "latin1"),
    uses: Buffer.from(uses.buffer),
    signatures: printSignatures(signatures),
    places: Buffer.from(places.buffer),
    facts: Buffer.concat(entries.map(({ facts }) => facts)),
    texts: Buffer.concat(entries.map(({ text }) => text)),
  };
  const bytes = Object.values(content).reduce((sum, part) => sum + part.length, 0);
  return bytes <= MOST_BYTES ? content : undefined;
}

function invert(terms: number, entries: readonly Entry[]) {
  const uses = new Uint32Array(terms * 2);
  for (const { words } of entries) for (const term of words) uses[term * 2] = (uses[term * 2] as number) + 1;
  const starts = startsOf(uses, 0, 2);
  const next = starts.slice();
  const places = new Uint32Array(starts[terms] ?? 0);
  let place = 0;
  for (const { words } of entries)
    for (const term of words) {
      places[next[term] as number] = place++;
      next[term] = (next[term] as number) + 1;
    }
  for (let term = 0; term < terms; term++) {
    const own = places.subarray(starts[term], starts[term + 1]);
    uses[term * 2 + 1] = checksum(Buffer.from(own.buffer, own.byteOffset, own.byteLength));
  }
  return { uses, places };
}

function revert(uses: Uint32Array, places: Uint32Array): Uint32Array {
  const starts = startsOf(uses, 0, 2);
  const words = new Uint32Array(places.length);
  for (let term = 0; term < starts.length - 1; term++)
    for (let at = starts[term] as number; at < (starts[term + 1] as number); at++)
      words[places[at] as number] = term;
  return words;
}

const printSignatures = (signatures: Map<string, unknown>) =>
  Buffer.from(JSON.stringify(Object.fromEntries(signatures)));

/** What the present side file holds, if it belongs to this generation. */
export function readHoldings(dir: string, generation: string): Holdings | undefined {
  try {
    return withQuickFile(dir, (file) => (file.header.generation === generation ? decode(file) : undefined));
  } catch {
    return undefined;
  }
}

function decode(file: QuickFile): Holdings | undefined {
  const [tableBytes, uses, places] = [file.section("table"), file.section("uses"), file.section("places")];
  const [termBytes, facts, texts] = [file.section("terms"), file.section("facts"), file.section("texts")];
  if (!tableBytes || !uses || !places || !termBytes || !facts || !texts) return undefined;
  const lines = termBytes.length === 0 ? [] : termBytes.toString("latin1").split("\n");
  const table = numbersOf(tableBytes);
  const words = revert(numbersOf(uses), numbersOf(places));
  const [factsAt, wordsAt, textsAt] = [COLUMNS.facts, COLUMNS.tokens, COLUMNS.text].map((column) =>
    startsOf(table, column),
  );
  const entries = Array.from({ length: table.length / WIDTH }, (_, row): Entry => {
    const own = facts.subarray(factsAt?.[row], factsAt?.[row + 1]);
    return {
      path: (JSON.parse(own.toString("utf8")) as Facts).path,
      facts: own,
      words: words.subarray(wordsAt?.[row], wordsAt?.[row + 1]),
      names: table[row * WIDTH + COLUMNS.names] ?? 0,
      title: table[row * WIDTH + COLUMNS.title] ?? 0,
      text: texts.subarray(textsAt?.[row], textsAt?.[row + 1]),
      textSum: table[row * WIDTH + COLUMNS.textSum] ?? 0,
    };
  });
  return { terms: new Map(lines.map((term, number) => [term, number])), entries };
}

/** To be called by whoever holds the lock under which the draft's generation was put in place. */
export function publishQuickFile(dir: string, now: number, { about, content }: Draft): void {
  const identity = identityOf(dir);
  if (identity === undefined) return;
  const { generation, cursor, scannedAt, scanMs, files } = about;
  try {
    writeQuickFile(dir, now, { generation, identity, cursor, scannedAt, scanMs, files }, content);
  } catch {
    // A side file of an older generation may stay: it says so itself, and is not used.
  }
}

/** Whether the engine had to answer only because the side file is missing, or knows less than is known now. */
export function isRenewalDue(dir: string, about: About, { suspects, scan, cursor }: Changes): boolean {
  if (about.files > MOST_FILES) return false;
  const header = readHeader(dir);
  if (header?.generation !== about.generation) return true;
  if (!header.sections || suspects.size === 0) return false;
  return (
    !scan ||
    cursor !== header.cursor ||
    [...suspects.values()].some(({ signature }) => signature !== UNSETTLED)
  );
}

function readHeader(dir: string): QuickHeader | undefined {
  try {
    return withQuickFile(dir, ({ header }) => header);
  } catch {
    return undefined;
  }
}

/** The same generation again, with what was learned about files that turned out to be as they were. */
export function renewQuickFile(
  connection: Connection,
  dir: string,
  now: number,
  changes: Changes,
  lastScan: Scan,
): void {
  const { generation } = readAbout(connection);
  const { about, content } = draftQuickFile(connection, readHoldings(dir, generation), []);
  const scan = changes.scan ?? lastScan;
  const signatures = new Map(Object.entries(JSON.parse(content?.signatures.toString("utf8") ?? "{}")));
  for (const [path, { signature }] of changes.suspects)
    if (signature === undefined) signatures.delete(path);
    else signatures.set(path, signature);
  publishQuickFile(dir, now, {
    about: { ...about, cursor: changes.cursor, scannedAt: scan.at, scanMs: scan.tookMs },
    content: content && { ...content, signatures: printSignatures(signatures) },
  });
}
