import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../files/digest.ts";
import { makeFolder, replaceFile, syncDirectory } from "../files/durable.ts";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { step } from "../model/steps.ts";
import type { Effect } from "../ports/operation.ts";
import { type Home, journalDir, keysDir, rescuedDir, stagingDir } from "./layout.ts";

/** One file to put in its place; its text waits, complete and on disk, in the staging folder. */
export interface Step {
  do: Effect["do"];
  staged: string;
  path: string;
  before: string | undefined;
  after: string;
}

/** Everything that is left to do once a change has been decided; written before the first record moves. */
export interface Journal {
  tx: string;
  steps: Step[];
  log: string;
  lines: string;
  key?: { name: string; answer: string } | undefined;
}

export function writeJournal(home: Home, journal: Journal): void {
  step("journal");
  try {
    replaceFile(journalFile(home, journal.tx), JSON.stringify(journal));
  } catch (error) {
    // It may be in place all the same; nobody must find it there after its writer has given up.
    rmSync(journalFile(home, journal.tx), { force: true });
    throw error;
  }
}

/**
 * Finishes what killed processes left. Journals are written and removed only under the store's lock, so with the
 * lock held, every journal that is there belongs to somebody who can no longer finish it.
 */
export function recover(home: Home): void {
  for (const name of namesIfPresent(journalDir(home))) {
    const file = join(journalDir(home), name);
    const journal = name.endsWith(".json") ? parseJournal(readFileSync(file, "utf8")) : undefined;
    if (journal) finish(home, journal, true);
    else if (name.endsWith(".json")) rescue(home, file);
    else rmSync(file, { force: true });
  }
}

/** True when the call with this key was killed after its change had been decided, or is being carried out just now. */
export function isUnfinished(home: Home, key: string): boolean {
  return namesIfPresent(journalDir(home)).some((name) => {
    const text = name.endsWith(".json") ? textIfPresent(join(journalDir(home), name)) : undefined;
    return text !== undefined && parseJournal(text)?.key?.name === key;
  });
}

/** Carries a journal out. After a kill, any part of it may already have been done. */
export function finish(home: Home, journal: Journal, afterKill = false): string[] {
  try {
    for (const one of journal.steps) {
      step(`apply ${one.do}`);
      applyStep(home, one);
    }
  } catch (error) {
    if (afterKill) throw error;
    if (!journal.steps.some((one) => isInPlace(home, one))) {
      withdraw(home, journal);
      throw error;
    }
    return [putOff("One of the records", error)];
  }
  try {
    step("events");
    appendEvents(home, journal, afterKill);
    step("key");
    if (journal.key) replaceFile(keyFile(home, journal.key.name), journal.key.answer);
    step("done");
    unlinkSync(journalFile(home, journal.tx));
  } catch (error) {
    return [putOff("The event log", error)];
  }
  return [];
}

/** Once a record is in place the change is made; the journal stays, and whoever writes next does the rest. */
function putOff(what: string, error: unknown): string {
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  return `${what} could not be written yet (${reason}); the next command will do it.`;
}

function isInPlace(home: Home, one: Step): boolean {
  if (one.do === "attach") return !existsSync(join(stagingDir(home), one.staged));
  const text = textIfPresent(join(home.state, one.path));
  return text !== undefined && sha256(text) === one.after;
}

/** Nothing has changed yet, so nothing must: the failure that is about to be reported has to stay one. */
function withdraw(home: Home, journal: Journal): void {
  unlinkSync(journalFile(home, journal.tx));
  for (const one of journal.steps)
    rmSync(join(stagingDir(home), one.staged), { recursive: true, force: true });
}

/** A task comes into being with its folder, complete, by one rename. */
export function isNewTask(change: { do: string; path: string }): boolean {
  return change.do === "create" && /^tasks\/T\d+\/task\.md$/.test(change.path);
}

function applyStep(home: Home, one: Step): void {
  const staged = join(stagingDir(home), one.staged);
  if (!existsSync(staged)) return;
  const target = join(home.state, one.path);
  if (isNewTask(one)) {
    const folder = dirname(target);
    makeFolder(dirname(folder));
    if (existsSync(folder)) rescue(home, staged);
    else renameSync(staged, folder);
    syncDirectory(dirname(folder));
    return;
  }
  makeFolder(dirname(target));
  const current = textIfPresent(target);
  const now = current === undefined ? undefined : sha256(current);
  if (one.do === "attach") renameSync(staged, target);
  else if (now === one.after) unlinkSync(staged);
  else if (one.do === "create" && now === undefined) place(staged, target);
  else if (one.do === "replace" && now === one.before) renameSync(staged, target);
  else rescue(home, staged);
  syncDirectory(dirname(target));
}

/** A link refuses to replace anything; where the file system has no links, the lock alone has to do. */
function place(staged: string, target: string): void {
  try {
    linkSync(staged, target);
    unlinkSync(staged);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (!["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"].includes(code)) throw error;
    renameSync(staged, target);
  }
}

/** Somebody edited the record between a kill and its recovery: their text stays, ours is kept beside it. */
function rescue(home: Home, file: string): void {
  makeFolder(rescuedDir(home));
  renameSync(file, join(rescuedDir(home), basename(file)));
}

function appendEvents(home: Home, journal: Journal, afterKill: boolean): void {
  // What came from another clone brings its own events.
  if (journal.lines === "") return;
  const path = join(home.state, journal.log);
  makeFolder(dirname(path));
  const fd = openSync(path, "a+");
  try {
    const lines = afterKill ? missingLines(journal.lines, tailOf(fd)) : journal.lines;
    const data = Buffer.from(lines, "utf8");
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

/** Only a whole line counts as written: a crash may have left the first lines and a part of the next. */
function missingLines(lines: string, log: string): string {
  return lines
    .split("\n")
    .filter((line) => line !== "" && !log.includes(`\n${line}\n`))
    .map((line) => `\n${line}\n`)
    .join("");
}

function tailOf(fd: number): string {
  const size = fstatSync(fd).size;
  const tail = Buffer.alloc(Math.min(size, 262_144));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  return tail.toString("utf8");
}

function parseJournal(text: string): Journal | undefined {
  try {
    return JSON.parse(text) as Journal;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const keyFile = (home: Home, key: string) => join(keysDir(home), `${sha256(key).slice(0, 32)}.json`);
const journalFile = (home: Home, tx: string) => join(journalDir(home), `${tx}.json`);
