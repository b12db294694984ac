import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { digestOf } from "../files/digest.ts";
import { makeFolder, removeIfEmpty, syncFile } from "../files/durable.ts";
import { applyChanges, type FileChange, parseJournal, writeJournal } from "../files/file-journal.ts";
import { bytesOf } from "../files/read.ts";
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

/** The same in a journal. A change's new bytes wait under its number. */
interface Journal {
  root: string;
  folders: string[];
  changes: Omit<Noted, "staged">[];
  emptied: string[];
}

interface Noted extends FileChange {
  keepAs?: string;
  dropKept?: string;
}

const folderOf = (local: string) => join(local, "installing");
const journalOf = (local: string) => join(folderOf(local), "journal.json");
export const keptFile = (local: string, name: string) => join(local, "kept", name);

const shaOf = (bytes: Uint8Array | undefined) => (bytes === undefined ? null : digestOf(bytes));

/**
 * Writes what is wanted beside git's own files, then says so in a journal, and only then touches the tree. Whoever comes
 * after a kill completes it. Returns the paths that somebody else changed in between; those are left as they are.
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
  writeJournal(journalOf(local), journal);
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

/** Completes what a journal says, and forgets what never came to one. */
export function finishJournal(local: string): string[] {
  const folder = folderOf(local);
  if (!existsSync(folder)) return [];
  const journal = existsSync(journalOf(local))
    ? parse(bytesOf(journalOf(local)).toString("utf8"))
    : undefined;
  // A worktree that was removed since is not to come back for our files.
  const left = journal && existsSync(resolve(local, journal.root)) ? complete(local, journal) : [];
  step("install forget");
  // The journal goes first: staged files without one mean nothing.
  rmSync(journalOf(local), { force: true });
  rmSync(folder, { recursive: true, force: true });
  return left;
}

const parse = (text: string) =>
  parseJournal<Journal>(text, ({ folders, changes, emptied }) => [
    ...folders,
    ...emptied,
    ...changes.flatMap(({ path, keepAs = "", dropKept = "" }) => [path, keepAs, dropKept]),
  ]);

function complete(local: string, journal: Journal): string[] {
  const root = resolve(local, journal.root);
  for (const one of journal.folders) {
    step(`install folder ${one}`);
    mkdirSync(join(root, one), { recursive: true });
  }
  const changes = journal.changes.map((one, index): Noted => ({ ...one, staged: String(index) }));
  const left: string[] = [];
  applyChanges(
    changes,
    { root, staging: folderOf(local) },
    {
      placing: ({ path, keepAs }) => {
        if (keepAs !== undefined) keepCopy(join(root, path), keptFile(local, keepAs));
        step(`install ${path}`);
      },
      foreign: ({ path }) => left.push(path),
    },
  );
  for (const { path, dropKept } of changes)
    if (dropKept !== undefined && !left.includes(path)) rmSync(keptFile(local, dropKept), { force: true });
  const top = realpathSync(root);
  for (const one of [...journal.emptied].sort().reverse()) removeEmptied(join(top, one));
  return left;
}

function keepCopy(from: string, to: string): void {
  step("install keep");
  makeFolder(dirname(to));
  copyFileSync(from, `${to}.new`);
  syncFile(`${to}.new`);
  renameSync(`${to}.new`, to);
}

function removeEmptied(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length > 0) return;
  // What a link leads to was never made by us: folders are noted where they really are.
  if (realpathSync(folder) !== folder) return;
  step("install remove folder");
  removeIfEmpty(folder);
}
