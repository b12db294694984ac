import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { digestOf } from "../files/digest.ts";
import { makeFolder, syncDirectory, writeDurably } from "../files/durable.ts";
import { step } from "../model/steps.ts";

/** One file that is to become something else; without `after` it goes. */
export interface Change {
  /** Relative to the repository's top, past links. */
  path: string;
  before: Uint8Array | undefined;
  after: Uint8Array | undefined;
  /** The file as it was is kept in the clone, under this name. */
  keepAs?: string;
  /** What was kept under this name is not needed any more. */
  dropKept?: string;
}

/** Everything that one run changes in the tree; all of it or, when killed, all of it a little later. */
export interface Work {
  /** Folders to make, the outermost first. */
  folders: string[];
  changes: Change[];
  /** Folders of ours that go if nothing is left in them. */
  emptied: string[];
}

interface Noted {
  path: string;
  before: string | null;
  after: string | null;
  keepAs?: string;
  dropKept?: string;
}

interface Journal {
  root: string;
  folders: string[];
  changes: Noted[];
  emptied: string[];
}

const folderOf = (local: string) => join(local, "installing");
const journalOf = (local: string) => join(folderOf(local), "journal.json");
export const keptFile = (local: string, name: string) => join(local, "kept", name);

const shaOf = (bytes: Uint8Array | undefined) => (bytes === undefined ? null : digestOf(bytes));

/**
 * Writes what is wanted beside git's own files, then says so in a journal, and only then touches the tree. Whoever comes
 * after a kill completes it. Answers the paths that somebody else changed in between; those are left as they are.
 */
export function carryOut(local: string, root: string, work: Work): string[] {
  if (work.folders.length + work.changes.length + work.emptied.length === 0) return [];
  const folder = folderOf(local);
  makeFolder(folder);
  stage(folder, work.changes);
  const journal: Journal = {
    root: relative(local, root) || ".",
    folders: work.folders,
    changes: work.changes.map(({ path, before, after, keepAs, dropKept }) => ({
      path,
      before: shaOf(before),
      after: shaOf(after),
      ...(keepAs === undefined ? {} : { keepAs }),
      ...(dropKept === undefined ? {} : { dropKept }),
    })),
    emptied: work.emptied,
  };
  step("install journal");
  writeDurably(`${journalOf(local)}.new`, JSON.stringify(journal));
  renameSync(`${journalOf(local)}.new`, journalOf(local));
  syncDirectory(folder);
  return finishJournal(local);
}

/**
 * What takes the place of a file of the user's is on the disk before that goes. New files are not waited for one by one:
 * an empty one, as a power cut may leave it, is written again by the next run.
 */
function stage(folder: string, changes: readonly Change[]): void {
  step("install stage");
  for (const [index, { after }] of changes.entries())
    if (after !== undefined) writeFileSync(join(folder, String(index)), after);
  for (const [index, { before, after }] of changes.entries())
    if (before !== undefined && after !== undefined) syncFile(join(folder, String(index)));
}

function syncFile(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Completes what a journal says, and forgets what never came to one. */
export function finishJournal(local: string): string[] {
  const folder = folderOf(local);
  if (!existsSync(folder)) return [];
  const journal = existsSync(journalOf(local))
    ? (JSON.parse(readFileSync(journalOf(local), "utf8")) as Journal)
    : undefined;
  // A worktree that was removed since is not to come back for our files.
  const left = journal && existsSync(resolve(local, journal.root)) ? complete(local, journal) : [];
  step("install forget");
  // The journal goes first: staged files without one mean nothing.
  rmSync(journalOf(local), { force: true });
  rmSync(folder, { recursive: true, force: true });
  return left;
}

function complete(local: string, journal: Journal): string[] {
  const root = resolve(local, journal.root);
  const left: string[] = [];
  const touched = new Set<string>();
  for (const one of journal.folders) {
    step(`install folder ${one}`);
    mkdirSync(join(root, one), { recursive: true });
  }
  for (const [index, one] of journal.changes.entries()) {
    if (!settle(local, root, one, index)) left.push(one.path);
    if (one.before !== null) touched.add(dirname(join(root, one.path)));
  }
  for (const one of touched) syncDirectory(one);
  const top = realpathSync(root);
  for (const one of [...journal.emptied].sort().reverse()) removeIfEmpty(join(top, one));
  return left;
}

/** False when the file is neither what it was nor what it should become. */
function settle(local: string, root: string, one: Noted, index: number): boolean {
  const target = join(root, one.path);
  const aside = `${target}.pawl-new`;
  const now = existsSync(target) ? digestOf(readFileSync(target)) : null;
  if (now !== one.after && now !== one.before) return false;
  if (now !== one.after) {
    if (one.keepAs !== undefined) keepCopy(target, keptFile(local, one.keepAs));
    step(`install ${one.path}`);
    if (one.after === null) unlinkSync(target);
    else place(join(folderOf(local), String(index)), target, aside);
  }
  rmSync(aside, { force: true });
  if (one.dropKept !== undefined) rmSync(keptFile(local, one.dropKept), { force: true });
  return true;
}

function keepCopy(from: string, to: string): void {
  step("install keep");
  makeFolder(dirname(to));
  copyFileSync(from, `${to}.new`);
  syncFile(`${to}.new`);
  renameSync(`${to}.new`, to);
}

/** One rename, so that a reader sees the old or the new file; its mode stays what it was. */
function place(staged: string, target: string, aside: string): void {
  const mode = statSync(target, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined) chmodSync(staged, mode & 0o7777);
  try {
    renameSync(staged, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    // The git directory is on another disk than the tree.
    copyFileSync(staged, aside);
    syncFile(aside);
    if (mode !== undefined) chmodSync(aside, mode & 0o7777);
    renameSync(aside, target);
  }
}

function removeIfEmpty(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length > 0) return;
  // What a link leads to was never made by us: folders are noted where they really are.
  if (realpathSync(folder) !== folder) return;
  step("install remove folder");
  try {
    rmdirSync(folder);
  } catch {
    // Somebody has just put something there.
  }
}
