import type { Connection } from "./sqlite.ts";
import type { SearchDocument } from "./types.ts";
import { namesOf, storable } from "./words.ts";

/** Raised whenever what is stored, or how words are made from it, changes: older files are then built anew. */
const SCHEMA_VERSION = 2;

/** What an index knows about itself. It is in the database, so that it can never speak about another generation. */
export interface About {
  generation: string;
  cursor: string;
  scannedAt: number;
  scanMs: number;
  files: number;
}

/** One row per record file, broken ones included: they have no id, and no words. */
const TABLES = `
  CREATE TABLE about (
    schema INTEGER, generation TEXT, cursor TEXT, scannedAt REAL, scanMs REAL, files INTEGER);
  CREATE TABLE records (
    record INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, signature TEXT NOT NULL,
    id TEXT, kind TEXT, task TEXT, status TEXT, updated TEXT);
  CREATE VIRTUAL TABLE words USING fts5 (
    names, title, text, tokenize = 'porter unicode61 remove_diacritics 2');`;

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

type Row = { record: number } & { [K in keyof SearchDocument]: SearchDocument[K] | null };

function findRow(connection: Connection, path: string): Row | undefined {
  return connection.rows<Row>(
    `SELECT record, id, kind, task, status, updated, title, text
     FROM records LEFT JOIN words ON words.rowid = record WHERE path = ?`,
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
  const stored = toStore(document);
  return FIELDS.every((field) => stored[field] === row[field]);
}

const FIELDS = ["id", "kind", "task", "status", "updated", "title", "text"] as const;

function toStore({ id, kind, task, status, updated, title, text }: SearchDocument): SearchDocument {
  return {
    id: storable(id),
    kind: storable(kind),
    task: task === null ? null : storable(task),
    status: status === null ? null : storable(status),
    updated: storable(updated),
    title: storable(title),
    text: storable(text),
  };
}

export interface RecordWriter {
  /** For a path that is not in the index yet; a broken file has a signature and no document. */
  add(path: string, signature: string, document: SearchDocument | undefined): void;
  /** Brings a path up to date; without a signature the file is gone. */
  replace(path: string, signature: string | undefined, document: SearchDocument | undefined): void;
  /** For a file that still reads as it was indexed. */
  sign(path: string, signature: string): void;
}

export function withWriter(connection: Connection, write: (writer: RecordWriter) => void): void {
  const addRecord = connection.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const addWords = connection.prepare("INSERT INTO words (rowid, names, title, text) VALUES (?, ?, ?, ?)");
  const [top] = connection.rows<{ record: number | null }>("SELECT max(record) AS record FROM records");
  let last = top?.record ?? 0;
  const add: RecordWriter["add"] = (path, signature, document) => {
    const record = ++last;
    const stored = document && toStore(document);
    const { id = null, kind = null, task = null, status = null, updated = null } = stored ?? {};
    addRecord.run([record, path, signature, id, kind, task, status, updated]);
    if (stored) addWords.run([record, namesOf(stored), stored.title, stored.text]);
  };
  try {
    write({
      add,
      replace(path, signature, document) {
        for (const { record } of connection.rows<Row>("SELECT record FROM records WHERE path = ?", [path])) {
          connection.rows("DELETE FROM words WHERE rowid = ?", [record]);
          connection.rows("DELETE FROM records WHERE record = ?", [record]);
        }
        if (signature !== undefined) add(path, signature, document);
      },
      sign: (path, signature) =>
        void connection.rows("UPDATE records SET signature = ? WHERE path = ?", [signature, path]),
    });
  } finally {
    for (const statement of [addRecord, addWords]) statement.close();
  }
}
