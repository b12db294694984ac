import { chmodSync, copyFileSync, linkSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { digestOf } from "./digest.ts";
import { makeFolder, replaceFile, syncDirectory, syncFile } from "./durable.ts";
import { bytesIfPresent } from "./read.ts";

/*
 * A write-ahead journal of files. New files wait, complete, in a staging folder; the journal says which of them belongs
 * where and is on the disk before the first one moves. Killed before the journal, nothing happened; killed after it,
 * whoever comes next applies the same changes again, and those that were made already are recognised.
 */

/** One file that is to become something else. */
export interface FileChange {
  /** Below the root, with forward slashes. */
  path: string;
  /** Digest of what it was; nothing when there was no such file. */
  before?: string | null | undefined;
  /** Digest of what it becomes; null when it goes, `UNCOMPARED` when it takes its place whatever is there. */
  after: string | null;
  /**
   * Its name in the staging folder. A folder of that name takes the place of the folder that the file is in, so that all
   * of it comes into being by one rename.
   */
  staged: string;
}

/** For files that nobody but us writes, and that are too long to be read for a digest. */
export const UNCOMPARED = "";

export interface Places {
  /** What the paths of the changes are relative to. */
  root: string;
  staging: string;
}

export interface Watcher<C> {
  /** About to change the disk; not called for what was done before a kill. */
  placing(change: C): void;
  /** The file is neither what it was nor what it should become: it stays, and so does the one that was to replace it. */
  foreign(change: C, staged: string): void;
}

export function writeJournal(file: string, journal: object): void {
  try {
    replaceFile(file, JSON.stringify(journal));
  } catch (error) {
    // It may be in place all the same; nobody must find it there after its writer has given up.
    rmSync(file, { force: true });
    throw error;
  }
}

/** Undefined when the text is torn, or when a path leads out of its folder: a journal may not write just anywhere. */
export function parseJournal<T>(text: string, pathsOf: (journal: T) => readonly string[]): T | undefined {
  try {
    const journal = JSON.parse(text) as T;
    return pathsOf(journal).every(staysInside) ? journal : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

const staysInside = (path: unknown) =>
  typeof path === "string" && !/^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(path);

/** Makes every change that has not been made yet, and waits until the disk has them all. */
export function applyChanges<C extends FileChange>(
  changes: readonly C[],
  places: Places,
  watcher: Watcher<C>,
): void {
  const touched = new Set<string>();
  for (const change of changes) touched.add(settle(change, places, watcher));
  for (const folder of touched) syncDirectory(folder);
}

/** True once a change has been made. */
export function isApplied({ path, after, staged }: FileChange, { root, staging }: Places): boolean {
  if (after === UNCOMPARED) return statSync(join(staging, staged), { throwIfNoEntry: false }) === undefined;
  return digestAt(join(root, path)) === after;
}

/** Returns the folder whose list of names changed. */
function settle<C extends FileChange>(change: C, { root, staging }: Places, watcher: Watcher<C>): string {
  const { before = null, after } = change;
  const target = join(root, change.path);
  const staged = join(staging, change.staged);
  const folder = dirname(target);
  const waiting = after === null ? undefined : statSync(staged, { throwIfNoEntry: false });
  if (after !== null && !waiting) return folder;
  if (waiting?.isDirectory()) return settleFolder(change, folder, staged, watcher);
  const now = digestAt(target);
  if (now === after) rmSync(staged, { force: true });
  else if (now !== before && after !== UNCOMPARED) watcher.foreign(change, staged);
  else {
    watcher.placing(change);
    if (after === null) unlinkSync(target);
    else if (!place(staged, target, now !== null)) watcher.foreign(change, staged);
  }
  rmSync(asideOf(target), { force: true });
  return folder;
}

function settleFolder<C extends FileChange>(
  change: C,
  folder: string,
  staged: string,
  watcher: Watcher<C>,
): string {
  makeFolder(dirname(folder));
  if (statSync(folder, { throwIfNoEntry: false })) watcher.foreign(change, staged);
  else {
    watcher.placing(change);
    renameSync(staged, folder);
  }
  return dirname(folder);
}

/** A reader sees the old file or the new one, and a file keeps its mode. False when one appeared where there was none. */
function place(staged: string, target: string, replaces: boolean): boolean {
  makeFolder(dirname(target));
  if (replaces) chmodSync(staged, statSync(target).mode & 0o7777);
  try {
    return move(staged, target, replaces);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
  }
  // The staging folder is on another disk than the root.
  const aside = asideOf(target);
  copyFileSync(staged, aside);
  syncFile(aside);
  if (!move(aside, target, replaces)) return false;
  unlinkSync(staged);
  return true;
}

/** A link, unlike a rename, refuses to replace what somebody has just put there; some file systems have no links. */
function move(from: string, target: string, replaces: boolean): boolean {
  try {
    if (!replaces) {
      linkSync(from, target);
      unlinkSync(from);
      return true;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"].includes(code)) throw error;
  }
  renameSync(from, target);
  return true;
}

const asideOf = (target: string) => `${target}.pawl-new`;

function digestAt(path: string): string | null {
  const bytes = bytesIfPresent(path);
  return bytes === undefined ? null : digestOf(bytes);
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? "";
