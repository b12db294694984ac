import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { bytesIfReadable } from "../../files/read.ts";
import { isBlob } from "../blobs.ts";
import type { Git } from "../run-git.ts";
import { type ChangedPath, type Entry, LINK } from "./changed-paths.ts";

/** What lies at a path of a worktree, looked at without following any link on the way. */
export type Present =
  | { kind: "nothing" }
  | { kind: "folder" }
  | { kind: "file"; executable: boolean }
  | { kind: "link"; target: string }
  /** A file or link stands where a folder of the path should be. */
  | { kind: "blocked"; by: string };

/** Looks at many paths of one worktree; folders on the way are looked at once. */
export function lookAt(root: string): (path: string) => Present {
  const folders = new Map<string, string | undefined>();
  /** The first thing on the way down that is no folder; "" when something is missing. */
  const blockOf = (folder: string): string | undefined => {
    if (folder === ".") return undefined;
    if (folders.has(folder)) return folders.get(folder);
    const stat = lstat(join(root, folder));
    const block =
      blockOf(dirname(folder)) ?? (stat === undefined ? "" : stat.isDirectory() ? undefined : folder);
    folders.set(folder, block);
    return block;
  };
  return (path) => {
    const block = blockOf(dirname(path));
    if (block !== undefined) return block === "" ? { kind: "nothing" } : { kind: "blocked", by: block };
    const stat = lstat(join(root, path));
    if (stat === undefined) return { kind: "nothing" };
    if (stat.isDirectory()) return { kind: "folder" };
    if (stat.isSymbolicLink()) return { kind: "link", target: readlinkSync(join(root, path)) };
    return { kind: "file", executable: (stat.mode & 0o100n) !== 0n };
  };
}

function lstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The blob ids that git would give to these files, by path; a file that cannot be read has none. */
export async function hashFiles(git: Git, paths: readonly string[]): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const isPlain = (path: string) => !/[\n"]/.test(path);
  const plain = paths.filter(isPlain);
  const answer = await git.ask(["hash-object", "--stdin-paths"], plain.map((path) => `${path}\n`).join(""));
  const lines = answer.out.trim().split("\n");
  const all = answer.code === 0 && lines.length === plain.length;
  if (all) for (const [index, path] of plain.entries()) hashes.set(path, lines[index] ?? "");
  // One file that cannot be read ends the whole list, and some names do not fit into a list of lines.
  for (const path of all ? paths.filter((one) => !isPlain(one)) : paths) {
    const hash = await git.line(["hash-object", "--", path]);
    if (hash !== undefined) hashes.set(path, hash);
  }
  return hashes;
}

/** Whether a file is what a tree has there; the executable bit is not content. */
export function holds(entry: Entry | undefined, present: Present, hash: string | undefined): boolean {
  // Folders are not content: where no file is wanted, one may be there for the sake of others.
  if (entry === undefined) return present.kind !== "file" && present.kind !== "link";
  if (present.kind === "link") return entry.mode === LINK && isBlob(entry.oid, present.target);
  return present.kind === "file" && entry.mode !== LINK && hash === entry.oid;
}

/** A file whose writing was cut off: the beginning of what either side has there, as a checkout would write it. */
export async function isCutOff(git: Git, root: string, change: ChangedPath): Promise<boolean> {
  const bytes = bytesIfReadable(join(root, change.path));
  if (bytes === undefined) return false;
  if (bytes.length === 0) return true;
  for (const entry of [change.new, change.old]) {
    if (entry === undefined || entry.mode === LINK) continue;
    const asWritten = ["cat-file", "--filters", `--path=${change.path}`, entry.oid];
    const { code, out: whole } = await git.askBytes(asWritten);
    if (code === 0 && whole.length >= bytes.length && whole.subarray(0, bytes.length).equals(bytes))
      return true;
  }
  return false;
}
