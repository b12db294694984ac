import type { Connection } from "./sqlite.ts";
import type { SearchDocument } from "./types.ts";
import { namesOf, storable } from "./words.ts";

/** Raised whenever what is stored, or how words are made from it, changes: older files are then built anew. */
const SCHEMA_VERSION = 1;

export const TOKENIZER = "tokenize = 'porter unicode61 remove_diacritics 2'";

/** What an index knows about itself. It is in the database, so that it can never speak about another generation. */
export interface About {
  generation: string;
  cursor: string;
  scannedAt: number;
  scanMs: number;
  files: number;
}

/** One row per record file, broken ones included (without an id); `texts` is what `words` was made from. */
const TABLES = `
  CREATE TABLE about (
    schema INTEGER, generation TEXT, cursor TEXT, scannedAt REAL, scanMs REAL, files INTEGER);
  CREATE TABLE records (
    record INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, signature TEXT NOT NULL,
    id TEXT, kind TEXT, task TEXT, status TEXT, updated TEXT);
  CREATE TABLE texts (record INTEGER PRIMARY KEY, names TEXT, title TEXT, text TEXT);
  CREATE VIRTUAL TABLE words USING fts5 (
    names, title, text, content = 'texts', content_rowid = 'record',
    ${TOKENIZER});`;

export function createTables(connection: Connection): void {
  connection.exec(TABLES);
}

export function readAbout(connection: Connection): About {
  const [about] = connection.rows<About & { schema: number }>("SELECT * FROM about");
  if (about?.schema !== SCHEMA_VERSION) throw new Error(`The index has schema ${about?.schema}.`);
  return about;
}

export function writeAbout(connection: Connection, about: About): void {
  connection.exec("DELETE FROM about");
  connection.rows("INSERT INTO about VALUES (?, ?, ?, ?, ?, ?)", [
    SCHEMA_VERSION,
    about.generation,
    about.cursor,
    about.scannedAt,
    about.scanMs,
    about.files,
  ]);
}

/** All signatures in one value: fetching 50,000 rows one by one takes longer than scanning the files. */
export function readSignatures(connection: Connection): Map<string, string> {
  const [row] = connection.rows<{ all: string }>(
    'SELECT json_group_object(path, signature) AS "all" FROM records',
  );
  return new Map(Object.entries(JSON.parse(row?.all ?? "{}") as Record<string, string>));
}

export function countFiles(connection: Connection): number {
  return connection.rows<{ files: number }>("SELECT count(*) AS files FROM records")[0]?.files ?? 0;
}

type Row = { record: number; signature: string; names: string } & {
  [K in keyof SearchDocument]: SearchDocument[K] | null;
};

function findRow(connection: Connection, path: string): Row | undefined {
  return connection.rows<Row>(
    `SELECT record, signature, id, kind, task, status, updated, names, title, text
     FROM records LEFT JOIN texts USING (record) WHERE path = ?`,
    [path],
  )[0];
}

/** Whether the record at `path` reads as it did when it was indexed; undefined stands for a record that cannot be found. */
export function isIndexedAs(
  connection: Connection,
  path: string,
  document: SearchDocument | undefined,
): boolean {
  const row = findRow(connection, path);
  if (!document || row?.id == null) return !document && row?.id == null;
  return fieldsOf(document).every((value, index) => value === FIELDS.map((field) => row[field])[index]);
}

const FIELDS = ["id", "kind", "task", "status", "updated", "title", "text"] as const;

function fieldsOf(document: SearchDocument): (string | null)[] {
  return FIELDS.map((field) => (document[field] === null ? null : storable(document[field])));
}

export interface RecordWriter {
  /** For a path that is not in the index yet; a broken file has a signature and no document. */
  add(path: string, signature: string, document: SearchDocument | undefined): void;
  /** Brings a path up to date; without a signature the file is gone. */
  replace(path: string, signature: string | undefined, document: SearchDocument | undefined): void;
  /** For a file that still reads as it was indexed. */
  sign(path: string, signature: string): void;
  close(): void;
}

/** In `bulk` the words are made in one go at the end, which is much faster and only possible for a new index. */
export function openWriter(connection: Connection, pace: "single" | "bulk"): RecordWriter {
  const addRecord = connection.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const addText = connection.prepare("INSERT INTO texts VALUES (?, ?, ?, ?)");
  const addWords = connection.prepare(
    "INSERT INTO words (rowid, names, title, text) SELECT * FROM texts WHERE record = ?",
  );
  const [top] = connection.rows<{ record: number | null }>("SELECT max(record) AS record FROM records");
  let last = top?.record ?? 0;
  const add: RecordWriter["add"] = (path, signature, document) => {
    const record = ++last;
    const [id = null, kind = null, task = null, status = null, updated = null, title = null, text = null] =
      document ? fieldsOf(document) : [];
    addRecord.run([record, path, signature, id, kind, task, status, updated]);
    if (!document) return;
    const names = storable(namesOf(document));
    addText.run([record, names, title, text]);
    if (pace === "single") addWords.run([record]);
  };
  return {
    add,
    replace(path, signature, document) {
      const row = findRow(connection, path);
      if (row) remove(connection, row);
      if (signature !== undefined) add(path, signature, document);
    },
    sign: (path, signature) =>
      void connection.rows("UPDATE records SET signature = ? WHERE path = ?", [signature, path]),
    close() {
      for (const statement of [addRecord, addText, addWords]) statement.close();
      if (pace === "bulk") connection.exec("INSERT INTO words (words) VALUES ('rebuild')");
    },
  };
}

/** FTS5 keeps no copy of the text and must be told what it indexed, or it would count those words for ever. */
function remove(connection: Connection, row: Row): void {
  if (row.id !== null) {
    connection.rows("INSERT INTO words (words, rowid, names, title, text) VALUES ('delete', ?, ?, ?, ?)", [
      row.record,
      row.names,
      row.title,
      row.text,
    ]);
    connection.rows("DELETE FROM texts WHERE record = ?", [row.record]);
  }
  connection.rows("DELETE FROM records WHERE record = ?", [row.record]);
}
