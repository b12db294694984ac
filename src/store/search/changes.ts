import { type About, isIndexedAs, readSignatures } from "./schema.ts";
import type { Connection } from "./sqlite.ts";
import type { SearchDocument, SearchSource } from "./types.ts";

/** Up to this many files a scan is so cheap that every query makes one. */
const ALWAYS_SCANNED_FILES = 2_000;
/** Above it, scanning may take one hundredth of the time. */
const SCAN_SHARE = 100;
/** A file this young may be rewritten without a visible difference where the file system's clock is coarse. */
const SETTLED_MS = 2_000;
/** A signature that no file has, so that the next scan looks at the file again. */
const UNSETTLED = "";

export interface Scan {
  at: number;
  tookMs: number;
}

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

export const isAlwaysScanned = (about: About) => about.files <= ALWAYS_SCANNED_FILES;

function isScanDue(about: About, lastScan: Scan, now: number): boolean {
  return isAlwaysScanned(about) || now < lastScan.at || now - lastScan.at > SCAN_SHARE * lastScan.tookMs;
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

  if (written && !isScanDue(about, lastScan, now))
    return { ...readSuspects(connection, source, signatures), cursor: written.cursor, scan: undefined };

  const cursor = source.cursor();
  const { found, scan } = timedScan(source, now);
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
  const cursor = source.cursor();
  const { found, scan } = timedScan(source, now);
  const files = [...found.keys()]
    .sort()
    .map((path): [string, string] => [path, settled(found.get(path) ?? "", now)]);
  return { cursor, scan, files };
}

function timedScan(source: SearchSource, now: number): { found: Map<string, string>; scan: Scan } {
  const started = performance.now();
  const found = source.scan();
  return { found, scan: { at: now, tookMs: performance.now() - started } };
}

function settled(signature: string, now: number): string {
  return now - Number.parseFloat(signature) < SETTLED_MS ? UNSETTLED : signature;
}
