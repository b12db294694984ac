import { tryAcquire } from "../../files/intent-lock.ts";
import { NeedsFullYaml } from "../../model/record.ts";
import { applyChanges, applyDocuments, buildIndex } from "./build.ts";
import { type Changes, findChanges, type KnownIndex } from "./changes.ts";
import { ALWAYS_SCANNED_FILES } from "./freshness.ts";
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
import type { Answer } from "./question.ts";
import type { Glance } from "./quick.ts";
import {
  type Draft,
  draftQuickFile,
  isRenewalDue,
  publishQuickFile,
  readHoldings,
  renewQuickFile,
} from "./quick-publish.ts";
import { rank } from "./ranking.ts";
import { readAbout } from "./schema.ts";
import type { SearchOptions } from "./search.ts";
import { prepareSnippets } from "./snippet.ts";
import { type Connection, loadSqlite, type Sqlite, withConnection } from "./sqlite.ts";
import { printMatch, type Word } from "./words.ts";

/** Above this many differences a new generation is cheaper than looking at them again in every query. */
const MOST_PENDING = 32;
/** A larger generation is not copied for a few changes. */
const CHEAP_COPY_BYTES = 32 * 2 ** 20;
const ATTEMPTS = 3;

export function answerByEngine(
  options: SearchOptions,
  words: readonly Word[],
  glance: Glance | undefined,
): Answer {
  const { query, dir } = options;
  const expression = printMatch(words, query.match ?? "all");
  const snip = prepareSnippets(words);
  const sqlite = loadSqlite({ oneShot: options.oneShot && hasGeneration(dir) });
  const session: Session = {
    ...options,
    sqlite,
    glance,
    announce: announcer(options.progress),
    answer: (connection) => rank(connection, expression, query, snip),
  };
  return (
    attempt(() => answerFromGeneration(session)) ??
    attempt(() => answerFromRebuilt(session)) ??
    answerInMemory(session)
  );
}

function announcer(progress: SearchOptions["progress"]): (files: number) => void {
  let isDone = false;
  return (files) => {
    if (!isDone && files > ALWAYS_SCANNED_FILES)
      progress?.(`building the search index of ${files} records …`);
    isDone = true;
  };
}

interface Session extends SearchOptions {
  sqlite: Sqlite;
  glance: Glance | undefined;
  /** Tells the user once that the index is being built, if that takes long. */
  announce: (files: number) => void;
  answer: (connection: Connection) => Answer;
}

/** Whatever is wrong with an index, the next way to answer does not depend on it. */
function attempt(way: () => Answer | undefined): Answer | undefined {
  try {
    return way();
  } catch (error) {
    passOn(error);
    return undefined;
  }
}

/** Not a fault of any index: the caller loads a parser and asks again. */
function passOn(error: unknown): void {
  if (error instanceof NeedsFullYaml) throw error;
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
    lookAt(session, connection, reader),
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
function lookAt(session: Session, connection: Connection, reader: Reader): Look {
  const { dir, source, now, glance } = session;
  const about = readAbout(connection);
  const stamp = readScanStamp(dir, about.generation);
  const index = { about, lastScan: stamp ?? { at: about.scannedAt, tookMs: about.scanMs } };
  // Seen before a newer generation was opened, its additions would look like files that are gone.
  const sight = glance?.generation === about.generation ? glance.sight : undefined;
  session.glance = undefined;
  const changes = findChanges(connection, index, source, now, sight);
  if (changes.changed.length > 0 || changes.suspects.size > MOST_PENDING) return { index, changes };
  if (changes.scan && about.files > ALWAYS_SCANNED_FILES) writeScanStamp(dir, about.generation, changes.scan);
  const answer = session.answer(connection);
  if (isRenewalDue(dir, about, changes))
    holdingLock(dir, () => {
      if (isCurrent(dir, reader)) renewQuickFile(connection, dir, now, changes, index.lastScan);
    });
  return { answer };
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
  try {
    const held = readHoldings(session.dir, index.about.generation);
    publishWithQuickFile(session, reader, (connection) => {
      applyChanges(connection, index, changes, session.now);
      return draftQuickFile(connection, held, changes.changed);
    });
    return true;
  } catch (error) {
    passOn(error);
    return false;
  }
}

/** The side file comes second: until it is there, the old one names a generation that is gone, and is not used. */
function publishWithQuickFile(
  { dir, now, sqlite }: Session,
  base: Reader | undefined,
  build: (connection: Connection) => Draft,
): void {
  sweep(dir, now);
  const draft = publish(dir, now, base, (path) => withConnection(sqlite, path, "build", build));
  publishQuickFile(dir, now, draft);
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
  const { dir, now, source, announce } = session;
  const isBuilt = holdingLock(dir, () => {
    publishWithQuickFile(session, undefined, (connection) => {
      buildIndex(connection, source, now, announce);
      return draftQuickFile(connection, undefined, []);
    });
    return true;
  });
  return isBuilt ? answerFromPublished(session) : undefined;
}

function answerInMemory({ sqlite, source, now, announce, answer }: Session): Answer {
  return withConnection(sqlite, ":memory:", "build", (connection) => {
    buildIndex(connection, source, now, announce);
    return answer(connection);
  });
}
