import { tryAcquire } from "../../files/intent-lock.ts";
import { NeedsFullYaml } from "../../model/record.ts";
import { applyChanges, applyDocuments, buildIndex } from "./build.ts";
import { type Changes, findChanges, type KnownIndex } from "./changes.ts";
import { ALWAYS_SCANNED_FILES } from "./freshness.ts";
import {
  isCurrent,
  lockOf,
  type Opened,
  openGeneration,
  publish,
  readScanStamp,
  sweep,
  writeScanStamp,
} from "./generation.ts";
import { readAbout } from "./schema.ts";
import { type Connection, loadSqlite, openConnection, type Sqlite, withConnection } from "./sqlite.ts";
import type { SearchSource } from "./types.ts";

export interface IndexOptions {
  /** Where the index lives; created when missing. */
  dir: string;
  source: SearchSource;
  now: number;
  /** The process ends after this, so that nothing is worth keeping open. */
  oneShot: boolean;
  /** Told once, before something that takes long. */
  progress?: (message: string) => void;
}

/** Above this many differences a new generation is cheaper than looking at them again in every query. */
const MOST_PENDING = 16;
/** A larger generation is not copied for a few changes. */
const CHEAP_COPY_BYTES = 4 * 2 ** 20;
const ATTEMPTS = 3;

interface Session<T> extends IndexOptions {
  sqlite: Sqlite;
  /** Tells the user once that the index is being built, if that takes long. */
  announce: (files: number) => void;
  ask: (connection: Connection) => T;
}

/** Asks an index of the records as they are now: a published one, a new one, or one that exists for this question only. */
export async function askIndex<T extends object>(
  options: IndexOptions,
  ask: (connection: Connection) => T,
): Promise<T> {
  const session = { ...options, sqlite: await loadSqlite(), announce: announcer(options.progress), ask };
  try {
    return (
      attempt(() => askGeneration(session)) ?? attempt(() => askRebuilt(session)) ?? askInMemory(session)
    );
  } finally {
    if (options.oneShot) letGo();
  }
}

function announcer(progress: IndexOptions["progress"]): (files: number) => void {
  let isDone = false;
  return (files) => {
    if (!isDone && files > ALWAYS_SCANNED_FILES)
      progress?.(`building the search index of ${files} records …`);
    isDone = true;
  };
}

/** Whatever is wrong with an index, the next way to answer does not depend on it. */
function attempt<T>(way: () => T | undefined): T | undefined {
  try {
    return way();
  } catch (error) {
    letGo();
    // Not a fault of any index: the caller loads a parser and asks again.
    if (error instanceof NeedsFullYaml) throw error;
    return undefined;
  }
}

/** A process that stays keeps the generation that it asked last: opening one takes longer than most questions. */
let kept: Opened | undefined;

function openCurrent({ dir, now, sqlite }: Session<unknown>): Opened | undefined {
  if (kept?.dir === dir && isCurrent(kept)) return kept;
  letGo();
  kept = openGeneration(dir, now, (path) => openConnection(sqlite, path, "shared"));
  return kept;
}

function letGo(): void {
  const last = kept;
  kept = undefined;
  try {
    last?.connection.close();
  } catch {
    // Damaged beyond closing; its file has no name any more, and is gone with the process.
  }
}

function askGeneration<T>(session: Session<T>): T | undefined {
  const { dir, source, now, ask } = session;
  for (let round = 1; ; round++) {
    const opened = openCurrent(session);
    if (!opened) return undefined;
    const about = readAbout(opened.connection);
    const lastScan = readScanStamp(dir, about.generation) ?? { at: about.scannedAt, tookMs: about.scanMs };
    const changes = findChanges(opened.connection, { about, lastScan }, source, now);
    if (changes.changed.length === 0 && changes.suspects.size <= MOST_PENDING) {
      if (changes.scan && about.files > ALWAYS_SCANNED_FILES)
        writeScanStamp(dir, about.generation, changes.scan);
      return ask(opened.connection);
    }
    const mayPublish = round < ATTEMPTS && isWorthPublishing(changes, opened);
    const outcome = mayPublish ? refresh(session, opened, { about, lastScan }, changes) : "not possible";
    if (outcome === "published") return askPublished(session);
    if (outcome === "not possible") return askWithChanges(opened, changes, ask);
  }
}

/** A scan that found something is made anew by every query until its result is in a generation. */
function isWorthPublishing({ scan, suspects }: Changes, { bytes }: Opened): boolean {
  return scan !== undefined || suspects.size > MOST_PENDING || bytes <= CHEAP_COPY_BYTES;
}

type Refreshed = "published" | "replaced" | "not possible";

function refresh(session: Session<unknown>, opened: Opened, index: KnownIndex, changes: Changes): Refreshed {
  const { dir, now } = session;
  const outcome = holdingLock(dir, (): Refreshed => {
    if (!isCurrent(opened)) return "replaced";
    try {
      publishIndex(session, "copy", (connection) => applyChanges(connection, index, changes, now));
      return "published";
    } catch {
      // There is no room, or the generation is broken: both are found out by whoever answers next.
      return "not possible";
    }
  });
  return outcome ?? "not possible";
}

function publishIndex(
  { dir, now, sqlite }: Session<unknown>,
  from: "copy" | "nothing",
  build: (connection: Connection) => void,
): void {
  sweep(dir, now);
  publish(dir, now, from, (path) => withConnection(sqlite, path, "build", build));
}

function holdingLock<T>(dir: string, act: () => T): T | undefined {
  const release = tryAcquireQuietly(lockOf(dir));
  try {
    return release && act();
  } finally {
    release?.();
  }
}

/** A directory that cannot be written to has no lock to offer. */
function tryAcquireQuietly(lock: string): (() => void) | undefined {
  try {
    return tryAcquire(lock);
  } catch {
    return undefined;
  }
}

function askPublished<T>(session: Session<T>): T | undefined {
  const opened = openCurrent(session);
  return opened && session.ask(opened.connection);
}

/** Exactly what a refresh would answer, without leaving anything: the changes are made and taken back. */
function askWithChanges<T>({ connection }: Opened, changes: Changes, ask: (connection: Connection) => T): T {
  connection.exec("BEGIN");
  applyDocuments(connection, changes);
  const answer = ask(connection);
  connection.exec("ROLLBACK");
  return answer;
}

function askRebuilt<T>(session: Session<T>): T | undefined {
  const { dir, now, source, announce } = session;
  const isBuilt = holdingLock(dir, () => {
    publishIndex(session, "nothing", (connection) => buildIndex(connection, source, now, announce));
    return true;
  });
  return isBuilt ? askPublished(session) : undefined;
}

function askInMemory<T>({ sqlite, source, now, announce, ask }: Session<T>): T {
  return withConnection(sqlite, ":memory:", "build", (connection) => {
    buildIndex(connection, source, now, announce);
    return ask(connection);
  });
}
