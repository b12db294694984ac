import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { SHA1_LENGTH } from "./object-ids.ts";

/**
 * Whether a worktree is exactly its commit, told from git's index without starting git, which would cost more than the
 * rest of the command. It says yes only where nothing is left to doubt; everything else is for git to answer.
 */
export async function isSurelyClean(
  root: string,
  gitDir: string,
  /** Its tree; or the commit, where it is enough that nothing differs from what is staged as a whole. */
  expected: { tree: string } | { commit: string },
  options: { untracked: boolean },
): Promise<boolean> {
  const id = "tree" in expected ? expected.tree : expected.commit;
  // Longer ids make longer entries; such repositories are rare, and git reads them.
  if (id.length !== SHA1_LENGTH) return false;
  try {
    const index = readIndex(`${gitDir}/index`);
    if (index?.tree === undefined || ("tree" in expected && index.tree !== expected.tree)) return false;
    if (!index.entries.every((entry) => isUnchanged(root, entry))) return false;
    const young = index.entries.filter((entry) => entry.mtimeMs + TICK_MS >= index.writtenMs);
    if (young.length > 0 && !(await haveSameContent(root, index.data, young))) return false;
    return !options.untracked || hasNothingElse(root, index.entries);
  } catch {
    return false;
  }
}

/** The paths in the index; undefined where it is too big to be read quickly, or not of the usual kind. */
export function trackedPaths(gitDir: string): string[] | undefined {
  try {
    return readIndex(`${gitDir}/index`)?.entries.map((entry) => entry.path);
  } catch {
    return undefined;
  }
}

interface Entry {
  path: string;
  /** Where its head begins in the index. */
  at: number;
  mode: number;
  size: number;
  inode: number;
  mtimeMs: number;
  ctimeMs: number;
}

interface Index {
  data: Buffer;
  entries: Entry[];
  /** The tree of everything in it, where git has noted that. */
  tree: string | undefined;
  writtenMs: number;
}

/** Above this git, which looks at files in parallel, is as quick. */
const MOST_ENTRIES = 2_000;
/** "DIRC". */
const SIGNATURE = 0x44495243;
const ENTRY_HEAD = 62;
const NAME_LENGTH = 0xfff;
/** Assumed unchanged, extended (skip-worktree, intent to add), or one side of a conflict. */
const UNUSUAL = 0xf000;

function readIndex(path: string): Index | undefined {
  const { mtimeMs } = statSync(path);
  const data = readFileSync(path);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const count = view.getUint32(8);
  if (view.getUint32(0) !== SIGNATURE || view.getUint32(4) !== 2 || count > MOST_ENTRIES) return undefined;
  const entries: Entry[] = [];
  let at = 12;
  for (let left = count; left > 0; left--) {
    const flags = view.getUint16(at + 60);
    const length = flags & NAME_LENGTH;
    if ((flags & UNUSUAL) !== 0 || length === NAME_LENGTH) return undefined;
    entries.push({
      path: data.toString("utf8", at + ENTRY_HEAD, at + ENTRY_HEAD + length),
      at,
      ctimeMs: timeAt(view, at),
      mtimeMs: timeAt(view, at + 8),
      inode: view.getUint32(at + 20),
      mode: view.getUint32(at + 24),
      size: view.getUint32(at + 36),
    });
    // Entries are padded with one to eight zeros to a multiple of eight.
    at += (ENTRY_HEAD + length + 8) & ~7;
  }
  return { data, entries, tree: rootTree(data, at), writtenMs: mtimeMs };
}

/** As Node tells the times of a file, to a quarter of a microsecond: with whole nanoseconds each look takes twice as long. */
const timeAt = (view: DataView, at: number) =>
  view.getUint32(at) * 1_000 + view.getUint32(at + 4) / 1_000_000;

const CHECKSUM = 20;

/** The extension `TREE` begins with the whole tree: an empty path, the number of entries (-1: not known) and its id. */
function rootTree(data: Buffer, from: number): string | undefined {
  for (let at = from; at + 8 <= data.length - CHECKSUM; at += 8 + data.readUInt32BE(at + 4)) {
    const name = data.toString("latin1", at, at + 4);
    // Lower case: one without which the index cannot be understood, such as a split one.
    if (/^[a-z]/.test(name)) return undefined;
    if (name !== "TREE") continue;
    const newline = data.indexOf(10, at + 9);
    if (data[at + 8] !== 0 || data.toString("latin1", at + 9, at + 10) === "-") return undefined;
    return data.toString("hex", newline + 1, newline + 21);
  }
  return undefined;
}

/** Clocks of file systems tick slowly: a file as young as the index may have been changed after it was looked at. */
const TICK_MS = 10;
const MOST_YOUNG = 50;

/** What git does with such files as well: it reads them. Where a filter stands between file and blob, git has to. */
async function haveSameContent(root: string, data: Buffer, young: readonly Entry[]): Promise<boolean> {
  if (young.length > MOST_YOUNG) return false;
  const { isBlob } = await import("./blobs.ts");
  return young.every(({ path, at, mode }) => {
    const file = `${root}/${path}`;
    const blob = data.toString("hex", at + 40, at + 60);
    return isBlob(blob, mode === LINK ? readlinkSync(file, "buffer") : readFileSync(file));
  });
}

/** What the upper bits of a mode say, in the index as on the disk. */
const KIND = 0o170000;
const LINK = 0o120000;
const FILE = 0o100000;

function isUnchanged(root: string, entry: Entry): boolean {
  const stat = lstatSync(`${root}/${entry.path}`, { throwIfNoEntry: false });
  return (
    stat !== undefined &&
    stat.mtimeMs === entry.mtimeMs &&
    stat.ctimeMs === entry.ctimeMs &&
    // Git keeps the lower 32 bits of both.
    stat.ino % 2 ** 32 === entry.inode &&
    stat.size % 2 ** 32 === entry.size &&
    modeOf(stat) === entry.mode
  );
}

function modeOf({ mode }: Stats): number {
  if ((mode & KIND) !== FILE) return mode & KIND;
  return (mode & 0o100) === 0 ? 0o100644 : 0o100755;
}

/** A name that the index does not know may be ignored or new; only git can tell which. */
function hasNothingElse(root: string, entries: readonly Entry[]): boolean {
  const known = new Map<string, Set<string>>([["", new Set([".git"])]]);
  const add = (path: string): void => {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, Math.max(slash, 0));
    const name = path.slice(slash + 1);
    const names = known.get(folder);
    if (names) names.add(name);
    else {
      known.set(folder, new Set([name]));
      add(folder);
    }
  };
  for (const { path } of entries) add(path);
  for (const [folder, names] of known)
    if (readdirSync(`${root}/${folder}`).some((name) => !names.has(name))) return false;
  return true;
}
