import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

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
    const index = readIndex(join(gitDir, "index"));
    if (index?.tree === undefined || ("tree" in expected && index.tree !== expected.tree)) return false;
    if (!index.entries.every((entry) => isUnchanged(root, entry))) return false;
    const young = index.entries.filter((entry) => entry.mtimeNs + TICK_NS >= index.writtenNs);
    if (young.length > 0 && !(await haveSameContent(root, young))) return false;
    return !options.untracked || hasNothingElse(root, index.entries);
  } catch {
    return false;
  }
}

const SHA1_LENGTH = 40;

/** The paths in the index; undefined where it is too big to be read quickly, or not of the usual kind. */
export function trackedPaths(gitDir: string): string[] | undefined {
  try {
    return readIndex(join(gitDir, "index"))?.entries.map((entry) => entry.path);
  } catch {
    return undefined;
  }
}

interface Entry {
  path: string;
  blob: string;
  mode: number;
  size: number;
  inode: number;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

interface Index {
  entries: Entry[];
  /** The tree of everything in it, where git has noted that. */
  tree: string | undefined;
  writtenNs: bigint;
}

/** Above this git, which looks at files in parallel, is as quick. */
const MOST_ENTRIES = 2_000;
const ENTRY_HEAD = 62;
const NAME_LENGTH = 0xfff;
/** Assumed unchanged, extended (skip-worktree, intent to add), or one side of a conflict. */
const UNUSUAL = 0xf000;

function readIndex(path: string): Index | undefined {
  const { mtimeNs } = statSync(path, { bigint: true });
  const data = readFileSync(path);
  const count = data.readUInt32BE(8);
  if (data.toString("latin1", 0, 4) !== "DIRC" || data.readUInt32BE(4) !== 2 || count > MOST_ENTRIES)
    return undefined;
  const entries: Entry[] = [];
  let at = 12;
  for (let left = count; left > 0; left--) {
    const flags = data.readUInt16BE(at + 60);
    const length = flags & NAME_LENGTH;
    if ((flags & UNUSUAL) !== 0 || length === NAME_LENGTH) return undefined;
    entries.push({
      path: data.toString("utf8", at + ENTRY_HEAD, at + ENTRY_HEAD + length),
      blob: data.toString("hex", at + 40, at + 60),
      ctimeNs: timeAt(data, at),
      mtimeNs: timeAt(data, at + 8),
      inode: data.readUInt32BE(at + 20),
      mode: data.readUInt32BE(at + 24),
      size: data.readUInt32BE(at + 36),
    });
    // Entries are padded with one to eight zeros to a multiple of eight.
    at += (ENTRY_HEAD + length + 8) & ~7;
  }
  return { entries, tree: rootTree(data, at), writtenNs: mtimeNs };
}

const timeAt = (data: Buffer, at: number) =>
  BigInt(data.readUInt32BE(at)) * 1_000_000_000n + BigInt(data.readUInt32BE(at + 4));

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
const TICK_NS = 10_000_000n;
const MOST_YOUNG = 50;

/** What git does with such files as well: it reads them. Where a filter stands between file and blob, git has to. */
async function haveSameContent(root: string, young: readonly Entry[]): Promise<boolean> {
  if (young.length > MOST_YOUNG) return false;
  const { isBlob } = await import("./object-ids.ts");
  return young.every(({ path, blob, mode }) => {
    const file = join(root, path);
    return isBlob(blob, mode === LINK ? readlinkSync(file, "buffer") : readFileSync(file));
  });
}

const LINK = 0o120000;

function isUnchanged(root: string, entry: Entry): boolean {
  const stat = lstatSync(join(root, entry.path), { bigint: true, throwIfNoEntry: false });
  return (
    stat !== undefined &&
    stat.mtimeNs === entry.mtimeNs &&
    stat.ctimeNs === entry.ctimeNs &&
    Number(stat.ino & 0xffffffffn) === entry.inode &&
    Number(stat.size & 0xffffffffn) === entry.size &&
    modeOf(stat) === entry.mode
  );
}

function modeOf(stat: BigIntStats): number {
  if (stat.isSymbolicLink()) return LINK;
  if (!stat.isFile()) return 0;
  return (stat.mode & 0o100n) === 0n ? 0o100644 : 0o100755;
}

/** A name that the index does not know may be ignored or new; only git can tell which. */
function hasNothingElse(root: string, entries: readonly Entry[]): boolean {
  const known = new Map<string, Set<string>>([["", new Set([".git"])]]);
  for (const { path } of entries) {
    const parts = path.split("/");
    for (let depth = 0; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      const names = known.get(folder) ?? new Set();
      names.add(parts[depth] ?? "");
      known.set(folder, names);
    }
  }
  for (const [folder, names] of known)
    if (readdirSync(join(root, folder)).some((name) => !names.has(name))) return false;
  return true;
}
