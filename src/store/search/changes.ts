import { isScanDue, lookAtFiles, type Scan, settled, UNSETTLED } from "./freshness.ts";
import { type About, isIndexedAs, readSignatures } from "./schema.ts";
import type { Connection } from "./sqlite.ts";
import type { SearchDocument, SearchSource } from "./types.ts";

/** A file that may differ from what the index holds: as it is now. */
interface Suspect {
  /** undefined when the file is gone. */
  signature: string | undefined;
  document: SearchDocument | undefined;
}

export interface Changes {
  suspects: Map<string, Suspect>;
  /** Those suspects that do read differently; the others were touched only, or too young to be trusted. */
  changed: string[];
  cursor: string;
  scan: Scan | undefined;
}

/** What an index says of itself, and when it was last compared with the files. */
export interface KnownIndex {
  about: About;
  lastScan: Scan;
}

export function findChanges(
  connection: Connection,
  { about, lastScan }: KnownIndex,
  source: SearchSource,
  now: number,
): Changes {
  const written = source.changedSince(about.cursor);
  const signatures = new Map<string, string | undefined>();
  for (const path of written?.paths ?? []) signatures.set(path, UNSETTLED);

  if (written && !isScanDue(about.files, lastScan, now))
    return { ...readSuspects(connection, source, signatures), cursor: written.cursor, scan: undefined };

  const { cursor, found, scan } = lookAtFiles(source, now);
  const known = readSignatures(connection);
  for (const [path, signature] of found)
    if (signatures.has(path) || known.get(path) !== signature) signatures.set(path, settled(signature, now));
  for (const path of known.keys()) if (!found.has(path)) signatures.set(path, undefined);
  return { ...readSuspects(connection, source, signatures), cursor, scan };
}

function readSuspects(
  connection: Connection,
  source: SearchSource,
  signatures: Map<string, string | undefined>,
) {
  const suspects = new Map<string, Suspect>();
  const changed: string[] = [];
  for (const [path, signature] of signatures) {
    const document = signature === undefined ? undefined : source.read(path);
    suspects.set(path, { signature, document });
    if (!isIndexedAs(connection, path, document)) changed.push(path);
  }
  return { suspects, changed };
}

interface Everything {
  cursor: string;
  scan: Scan;
  /** Path and trusted signature of every file, in a fixed order. */
  files: [path: string, signature: string][];
}

export function findEverything(source: SearchSource, now: number): Everything {
  const { cursor, found, scan } = lookAtFiles(source, now);
  const files = [...found.keys()]
    .sort()
    .map((path): [string, string] => [path, settled(found.get(path) ?? "", now)]);
  return { cursor, scan, files };
}
