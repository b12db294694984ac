import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { sha256 } from "../files/digest.ts";
import { makeFolder, replaceFile } from "../files/durable.ts";
import {
  applyChanges,
  type FileChange,
  isApplied,
  parseJournal,
  writeJournal,
} from "../files/file-journal.ts";
import { bytesOf, namesIfPresent, textIfPresent } from "../files/read.ts";
import { pathIn } from "../model/event-line.ts";
import { step } from "../model/steps.ts";
import type { Effect } from "../ports/operation.ts";
import { type Home, journalDir, keysDir, rescuedDir, stagingDir } from "./layout.ts";

/** One record or attachment to put in its place. */
export interface Step extends FileChange {
  do: Effect["do"];
}

/** Everything that is left to do once a change has been decided; written before the first record moves. */
export interface Journal {
  tx: string;
  steps: Step[];
  log: string;
  lines: string;
  key?: { name: string; answer: string } | undefined;
}

export function saveJournal(home: Home, journal: Journal): void {
  step("journal");
  writeJournal(journalFile(home, journal.tx), journal);
}

/**
 * Finishes what killed processes left, and returns what has to be told about it. Journals are written and removed only
 * under the store's lock, so with the lock held, every journal that is there belongs to somebody who can no longer
 * finish it.
 */
export function recover(home: Home): string[] {
  const warnings: string[] = [];
  for (const name of namesIfPresent(journalDir(home))) {
    const file = join(journalDir(home), name);
    const journal = name.endsWith(".json") ? parse(bytesOf(file).toString("utf8")) : undefined;
    if (journal) warnings.push(...finish(home, journal, true));
    else if (name.endsWith(".json")) rescue(home, file);
    else rmSync(file, { force: true });
  }
  return warnings;
}

/** True when the call with this key was killed after its change had been decided, or is being carried out just now. */
export function isUnfinished(home: Home, key: string): boolean {
  return namesIfPresent(journalDir(home)).some((name) => {
    const text = name.endsWith(".json") ? textIfPresent(join(journalDir(home), name)) : undefined;
    return text !== undefined && parse(text)?.key?.name === key;
  });
}

/** Carries a journal out. After a kill, any part of it may already have been done. */
export function finish(home: Home, journal: Journal, afterKill = false): string[] {
  const places = { root: home.state, staging: stagingDir(home) };
  const rescued = new Map<string, string>();
  try {
    applyChanges(journal.steps, places, {
      placing: (one) => step(`apply ${one.do}`),
      foreign: (one, staged) => rescued.set(one.path, rescue(home, staged)),
    });
  } catch (error) {
    if (afterKill) throw error;
    if (!journal.steps.some((one) => isApplied(one, places))) {
      withdraw(home, journal);
      throw error;
    }
    return [putOff("One of the records", error)];
  }
  try {
    step("events");
    const lines = journal.lines.split("\n").filter((line) => line !== "" && !rescued.has(pathIn(line)));
    appendEvents(join(home.state, journal.log), lines, afterKill);
    step("key");
    // A call of which a part was not applied is made again when it is repeated.
    if (journal.key && rescued.size === 0) replaceFile(keyFile(home, journal.key.name), journal.key.answer);
    step("done");
    unlinkSync(journalFile(home, journal.tx));
  } catch (error) {
    return [putOff("The event log", error)];
  }
  return [...rescued].map(([path, file]) => keptApart(home, path, file));
}

function keptApart(home: Home, path: string, file: string): string {
  const shown = (below: string) => join(home.shown, below);
  return `${shown(path)} was edited after a command that was changing it was killed. The edit stays; what that command wrote is in ${shown(relative(home.state, file))}.`;
}

/** Once a record is in place the change is made; the journal stays, and whoever writes next does the rest. */
function putOff(what: string, error: unknown): string {
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  return `${what} could not be written yet (${reason}); the next command will do it.`;
}

/** Nothing has changed yet, so nothing must: the failure that is about to be reported has to stay one. */
function withdraw(home: Home, journal: Journal): void {
  unlinkSync(journalFile(home, journal.tx));
  for (const one of journal.steps)
    rmSync(join(stagingDir(home), one.staged), { recursive: true, force: true });
}

/** Somebody edited the record between a kill and its recovery: their text stays, ours is kept beside it. */
function rescue(home: Home, file: string): string {
  const kept = join(rescuedDir(home), basename(file));
  makeFolder(rescuedDir(home));
  renameSync(file, kept);
  return kept;
}

function appendEvents(path: string, lines: readonly string[], afterKill: boolean): void {
  // What came from another clone brings its own events.
  if (lines.length === 0) return;
  makeFolder(dirname(path));
  const fd = openSync(path, "a+");
  try {
    // Only a whole line counts as written: a crash may have left the first lines and a part of the next.
    const log = afterKill ? tailOf(fd) : "";
    const missing = lines.map((line) => `\n${line}\n`).filter((line) => !log.includes(line));
    const data = Buffer.from(missing.join(""), "utf8");
    const { size } = fstatSync(fd);
    // One write of lines that begin and end with a newline: a torn one can never damage its neighbour.
    if (data.length > 0 && writeSync(fd, data) !== data.length) {
      ftruncateSync(fd, size);
      throw Object.assign(new Error("short write"), { code: "ENOSPC" });
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function tailOf(fd: number): string {
  const size = fstatSync(fd).size;
  const tail = Buffer.alloc(Math.min(size, 262_144));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  return tail.toString("utf8");
}

const parse = (text: string) =>
  parseJournal<Journal>(text, ({ tx, log, steps }) => [
    tx,
    log,
    ...steps.flatMap(({ path, staged }) => [path, staged]),
  ]);

export const keyFile = (home: Home, key: string) => join(keysDir(home), `${sha256(key).slice(0, 32)}.json`);
const journalFile = (home: Home, tx: string) => join(journalDir(home), `${tx}.json`);
