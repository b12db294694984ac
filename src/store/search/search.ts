import { tryAcquire } from "../intent-lock.ts";
import { applyChanges, applyDocuments, buildIndex } from "./build.ts";
import { type Changes, findChanges, isAlwaysScanned, type KnownIndex } from "./changes.ts";
import {
  bytesOf,
  hasGeneration,
  isCurrent,
  lockOf,
  publish,
  type Reader,
  readScanStamp,
  sweep,
  withReader,
  writeScanStamp,
} from "./generation.ts";
import { type Answer, limitOf, rank } from "./ranking.ts";
import { readAbout } from "./schema.ts";
import { prepareSnippets } from "./snippet.ts";
import { type Connection, loadSqlite, type Sqlite, withConnection } from "./sqlite.ts";
import type { SearchQuery, SearchSource } from "./types.ts";
import { parseWords, printMatch } from "./words.ts";

interface SearchOptions {
  /** Where the index lives; created when missing. */
  dir: string;
  source: SearchSource;
  query: SearchQuery;
  now: number;
  /** The process ends after this search, so that code is not worth optimising. */
  oneShot: boolean;
}

/** Above this many differences a new generation is cheaper than looking at them again in every query. */
const MOST_PENDING = 32;
/** A larger generation is not copied for a few changes. */
const CHEAP_COPY_BYTES = 32 * 2 ** 20;
const ATTEMPTS = 3;

/** Always answers for the records as they are now; the index only makes it fast, and repairs itself. */
export async function search(options: SearchOptions): Promise<Answer> {
  const { query, dir } = options;
  const match = query.match ?? "all";
  const words = parseWords(query.words, match);
  if (words.length === 0 || limitOf(query) === 0) return { hits: [], total: 0 };

  const expression = printMatch(words, match);
  const snip = prepareSnippets(words);
  const sqlite = loadSqlite({ oneShot: options.oneShot && hasGeneration(dir) });
  const session: Session = {
    ...options,
    sqlite,
    answer: (connection) => rank(connection, expression, query, snip),
  };
  return (
    attempt(() => answerFromGeneration(session)) ??
    attempt(() => answerFromRebuilt(session)) ??
    answerInMemory(session)
  );
}

interface Session extends SearchOptions {
  sqlite: Sqlite;
  answer: (connection: Connection) => Answer;
}

/** Whatever is wrong with an index, the next way to answer does not depend on it. */
function attempt(way: () => Answer | undefined): Answer | undefined {
  try {
    return way();
  } catch {
    return undefined;
  }
}

type Look = { answer: Answer } | { index: KnownIndex; changes: Changes };

function answerFromGeneration(session: Session): Answer | undefined {
  for (let round = 1; round <= ATTEMPTS; round++) {
    const mayPublish = round < ATTEMPTS;
    const outcome = withReader(session.dir, session.now, (reader) =>
      answerFromReader(session, reader, mayPublish),
    );
    if (outcome !== "replaced") return outcome;
  }
  return undefined;
}

function answerFromReader(session: Session, reader: Reader, mayPublish: boolean): Answer | "replaced" {
  const look = withConnection(session.sqlite, reader.path, "read", (connection) =>
    lookAt(session, connection),
  );
  if ("answer" in look) return look.answer;
  if (mayPublish && isWorthPublishing(look.changes, reader)) {
    const outcome = holdingLock(session.dir, () => {
      if (!isCurrent(session.dir, reader)) return "replaced" as const;
      return refresh(session, reader, look.index, look.changes) ? ("published" as const) : undefined;
    });
    if (outcome === "replaced") return "replaced";
    const answer = outcome && answerFromPublished(session);
    if (answer) return answer;
  }
  return answerFromOverlay(session, reader, look.changes);
}

/** Answers at once when the index is what the records are. */
function lookAt(session: Session, connection: Connection): Look {
  const about = readAbout(connection);
  const stamp = readScanStamp(session.dir, about.generation);
  const index = { about, lastScan: stamp ?? { at: about.scannedAt, tookMs: about.scanMs } };
  const changes = findChanges(connection, index, session.source, session.now);
  if (changes.changed.length > 0 || changes.suspects.size > MOST_PENDING) return { index, changes };
  if (changes.scan && !isAlwaysScanned(about)) writeScanStamp(session.dir, about.generation, changes.scan);
  return { answer: session.answer(connection) };
}

/** A scan that found something is made anew by every query until its result is in a generation. */
function isWorthPublishing(changes: Changes, reader: Reader): boolean {
  return (
    changes.scan !== undefined || changes.suspects.size > MOST_PENDING || bytesOf(reader) <= CHEAP_COPY_BYTES
  );
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

/** False when there is no room, or the old generation is broken: both are found out by whoever answers next. */
function refresh(session: Session, reader: Reader, index: KnownIndex, changes: Changes): boolean {
  const { dir, now, sqlite } = session;
  try {
    sweep(dir, now);
    publish(dir, now, reader, (path) =>
      withConnection(sqlite, path, "build", (connection) => applyChanges(connection, index, changes, now)),
    );
    return true;
  } catch {
    return false;
  }
}

function answerFromPublished({ dir, now, sqlite, answer }: Session): Answer | undefined {
  return withReader(dir, now, (reader) => withConnection(sqlite, reader.path, "read", answer));
}

/** Exactly what a refresh would answer, without leaving anything: the changes are made and taken back. */
function answerFromOverlay({ sqlite, answer }: Session, reader: Reader, changes: Changes): Answer {
  return withConnection(sqlite, reader.path, "overlay", (connection) => {
    connection.exec("BEGIN");
    applyDocuments(connection, changes);
    const result = answer(connection);
    connection.exec("ROLLBACK");
    return result;
  });
}

function answerFromRebuilt(session: Session): Answer | undefined {
  const { dir, now, sqlite, source } = session;
  const isBuilt = holdingLock(dir, () => {
    sweep(dir, now);
    publish(dir, now, undefined, (path) =>
      withConnection(sqlite, path, "build", (connection) => buildIndex(connection, source, now)),
    );
    return true;
  });
  return isBuilt ? answerFromPublished(session) : undefined;
}

function answerInMemory({ sqlite, source, now, answer }: Session): Answer {
  return withConnection(sqlite, ":memory:", "build", (connection) => {
    buildIndex(connection, source, now);
    return answer(connection);
  });
}
