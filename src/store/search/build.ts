import { type Changes, findEverything, type KnownIndex } from "./changes.ts";
import { type About, countFiles, createTables, withWriter, writeAbout } from "./schema.ts";
import type { Connection } from "./sqlite.ts";
import type { SearchSource } from "./types.ts";

export function buildIndex(
  connection: Connection,
  source: SearchSource,
  now: number,
  announce: (files: number) => void,
): void {
  const { cursor, scan, files } = findEverything(source, now);
  announce(files.length);
  createTables(connection);
  connection.exec("BEGIN");
  withWriter(connection, (writer) => {
    for (const [path, signature] of files) writer.add(path, signature, source.read(path));
  });
  writeAbout(connection, {
    ...newAbout(now),
    cursor,
    scannedAt: scan.at,
    scanMs: scan.tookMs,
    files: files.length,
  });
  connection.exec("COMMIT");
}

/** Turns a copy of the old generation into the new one. */
export function applyChanges(connection: Connection, index: KnownIndex, changes: Changes, now: number): void {
  const scan = changes.scan ?? index.lastScan;
  connection.exec("BEGIN");
  applyDocuments(connection, changes);
  applySignatures(connection, changes);
  writeAbout(connection, {
    ...newAbout(now),
    cursor: changes.cursor,
    scannedAt: scan.at,
    scanMs: scan.tookMs,
    files: countFiles(connection),
  });
  connection.exec("COMMIT");
}

/** Makes the words findable as they are now: all that one query needs. */
export function applyDocuments(connection: Connection, { suspects, changed }: Changes): void {
  withWriter(connection, (writer) => {
    for (const path of changed) {
      const suspect = suspects.get(path);
      writer.replace(path, suspect?.signature, suspect?.document);
    }
  });
}

/** Spares the next scan the files that turned out to be as they were. */
function applySignatures(connection: Connection, { suspects, changed }: Changes): void {
  const isChanged = new Set(changed);
  withWriter(connection, (writer) => {
    for (const [path, { signature, document }] of suspects) {
      if (isChanged.has(path)) continue;
      if (signature !== undefined && document) writer.sign(path, signature);
      else writer.replace(path, signature, undefined);
    }
  });
}

function newAbout(now: number): Pick<About, "generation"> {
  return { generation: `${now}-${process.pid}-${Math.random().toString(36).slice(2)}` };
}
