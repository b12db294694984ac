import { checksum } from "./quick-file.ts";
import type { Facts } from "./quick-ranking.ts";
import { TOKENIZER } from "./schema.ts";
import type { Connection } from "./sqlite.ts";
import { isAscii } from "./words.ts";

/** One record as the side file holds it. */
export interface Entry {
  path: string;
  facts: Buffer;
  /** Numbers of terms: first the names, then the title, then the text. */
  words: readonly number[] | Uint32Array;
  names: number;
  title: number;
  text: Buffer;
  textSum: number;
}

/** Terms by number; it may hold some that no record has any more. */
export type Terms = Map<string, number>;

/** Beyond these a place no longer fits into the one number that it is fetched as. */
const MOST_OFFSETS = 2 ** 20;
const OFFSET_SHARE = 2 ** 22;

/** The words come out of FTS5 itself: there is only one tokenizer. undefined when something in them is unheard of. */
export function extractAll(connection: Connection, terms: Terms): Entry[] | undefined {
  return extract(connection, terms, "main", "words", "");
}

/** Has FTS5 take only these records apart, because it cannot say quickly which words a record has. */
export function extractSome(
  connection: Connection,
  terms: Terms,
  paths: readonly string[],
): Entry[] | undefined {
  connection.exec(
    `CREATE VIRTUAL TABLE temp.few USING fts5 (names, title, text, content = '', ${TOKENIZER})`,
  );
  const condition = "WHERE path IN (SELECT value FROM json_each(?))";
  connection.rows(
    `INSERT INTO temp.few (rowid, names, title, text)
     SELECT record, names, title, text FROM texts JOIN records USING (record) ${condition}`,
    [JSON.stringify(paths)],
  );
  const entries = extract(connection, terms, "temp", "few", condition, [JSON.stringify(paths)]);
  connection.exec("DROP TABLE temp.few");
  return entries;
}

type Row = Facts & { record: number; text: string };

function extract(
  connection: Connection,
  terms: Terms,
  schema: string,
  table: string,
  condition: string,
  values: string[] = [],
): Entry[] | undefined {
  const placesOf = readPlaces(connection, terms, schema, table);
  const rows = connection.rows<Row>(
    `SELECT record, path, id, kind, task, status, title, updated, text
     FROM records JOIN texts USING (record) ${condition} ORDER BY record`,
    values,
  );
  const entries: Entry[] = [];
  for (const { record, text, ...facts } of rows) {
    // Ties are decided by comparing these, which SQLite does by bytes.
    if (!placesOf || !isAscii(facts.id) || !isAscii(facts.updated)) return undefined;
    const columns = (placesOf.get(record) ?? []).map(inOrder);
    if (columns.includes(undefined)) return undefined;
    entries.push(entryOf(facts, text, columns as number[][]));
  }
  return entries;
}

function entryOf(facts: Facts, text: string, [names = [], title = [], rest = []]: number[][]): Entry {
  const textBytes = Buffer.from(text);
  return {
    path: facts.path,
    facts: Buffer.from(JSON.stringify(facts)),
    words: [...names, ...title].concat(rest),
    names: names.length,
    title: title.length,
    text: textBytes,
    textSum: checksum(textBytes),
  };
}

/** Where each word of a column is. */
interface Places {
  words: number[];
  offsets: number[];
}

const MISSING = -1;

/** undefined when the words are not numbered one by one. */
function inOrder({ words, offsets }: Places): number[] | undefined {
  const ordered = new Array<number>(words.length).fill(MISSING);
  for (const [index, offset] of offsets.entries()) {
    if (ordered[offset] !== MISSING) return undefined;
    ordered[offset] = words[index] ?? MISSING;
  }
  return ordered;
}

/** All places of a term in one value, each as one number: fetching a row for every place takes far longer. */
function readPlaces(
  connection: Connection,
  terms: Terms,
  schema: string,
  table: string,
): Map<number, Places[]> | undefined {
  const vocabulary = `temp.${table}_places`;
  connection.exec(`CREATE VIRTUAL TABLE ${vocabulary} USING fts5vocab (${schema}, ${table}, instance)`);
  const rows = connection.rows<{ term: string; places: string; last: number }>(
    `SELECT term, max(offset) AS last, group_concat(
       doc * ${OFFSET_SHARE} + ((col = 'title') + 2 * (col = 'text')) * ${MOST_OFFSETS} + offset) AS places
     FROM ${vocabulary} GROUP BY term`,
  );
  connection.exec(`DROP TABLE ${vocabulary}`);
  if (rows.some(({ last }) => last >= MOST_OFFSETS)) return undefined;
  const found = new Map<number, Places[]>();
  for (const { term, places } of rows) {
    const number = numberOf(terms, term);
    for (const place of places.split(",")) put(found, Number(place), number);
  }
  return found;
}

/** A query is ASCII whenever this file is asked: of any other character it only matters that it is there. */
function numberOf(terms: Terms, term: string): number {
  const written = isAscii(term) ? term : term.replace(/[^\0-~]/g, "~");
  const number = terms.get(written) ?? terms.size;
  terms.set(written, number);
  return number;
}

function put(found: Map<number, Places[]>, place: number, word: number): void {
  const record = Math.floor(place / OFFSET_SHARE);
  const rest = place % OFFSET_SHARE;
  let columns = found.get(record);
  if (!columns) {
    columns = [0, 1, 2].map(() => ({ words: [], offsets: [] }));
    found.set(record, columns);
  }
  const column = columns[Math.floor(rest / MOST_OFFSETS)];
  column?.words.push(word);
  column?.offsets.push(rest % MOST_OFFSETS);
}
