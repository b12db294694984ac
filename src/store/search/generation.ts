import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Scan } from "./freshness.ts";

/**
 * The index file is never written in place: a new generation is built under a private name and renamed. Readers open
 * a generation through a hard link of their own, because node-sqlite3-wasm locks by creating `<name>.lock`, even to
 * read, and leaves it behind when the process is killed: under a private name that is in nobody's way.
 */
const LEFT_OVER_MS = 10 * 60_000;
const LINK_ATTEMPTS = 50;

const pathOf = (dir: string) => join(dir, "index.sqlite");
const readersOf = (dir: string) => join(dir, "readers");
const stampOf = (dir: string) => join(dir, "index.scanned");

export const lockOf = (dir: string) => join(dir, "index.lock");

export function hasGeneration(dir: string): boolean {
  return existsSync(pathOf(dir));
}

/** A generation under a name that only this process knows. */
export interface Reader {
  path: string;
  /** The file that was the index when this reader was made. */
  inode: string;
}

/** undefined when there is no generation, or when this directory does not let us open one. */
export function withReader<T>(dir: string, now: number, use: (reader: Reader) => T): T | undefined {
  const path = join(readersOf(dir), privateName(now));
  const inode = linkGeneration(dir, path);
  if (inode === undefined) return undefined;
  try {
    return use({ path, inode });
  } finally {
    discard(path);
  }
}

function linkGeneration(dir: string, path: string): string | undefined {
  for (let attempt = 0; attempt < LINK_ATTEMPTS; attempt++) {
    try {
      linkSync(pathOf(dir), path);
      return inodeOf(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Linux also says ENOENT when the generation is replaced while it is being linked.
      if (code !== "ENOENT")
        return code === "EACCES" || code === "EROFS" ? undefined : copyGeneration(dir, path);
      if (!hasGeneration(dir) || !makeReaders(dir)) return undefined;
    }
  }
  return undefined;
}

/** For file systems without hard links. */
function copyGeneration(dir: string, path: string): string | undefined {
  const inode = inodeOf(pathOf(dir));
  return quietly(() => copyFileSync(pathOf(dir), path, constants.COPYFILE_FICLONE)) ? inode : undefined;
}

function inodeOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino}`;
}

function makeReaders(dir: string): boolean {
  return quietly(() => mkdirSync(readersOf(dir), { recursive: true }));
}

/** False when another process has published since. */
export function isCurrent(dir: string, reader: Reader): boolean {
  return inodeOf(pathOf(dir)) === reader.inode;
}

export function bytesOf(reader: Reader): number {
  return statSync(reader.path).size;
}

/** Lets `build` make a new generation, from a copy of `base` if there is one, and puts it in place. */
export function publish<T>(
  dir: string,
  now: number,
  base: Reader | undefined,
  build: (path: string) => T,
): T {
  const path = join(dir, `.build-${privateName(now)}`);
  try {
    mkdirSync(readersOf(dir), { recursive: true });
    if (base) copyFileSync(base.path, path, constants.COPYFILE_FICLONE);
    const built = build(path);
    if (statSync(pathOf(dir), { throwIfNoEntry: false })?.isDirectory())
      rmSync(pathOf(dir), { recursive: true });
    renameSync(path, pathOf(dir));
    return built;
  } finally {
    discard(path);
  }
}

/** What killed processes left behind. The age is in the name: a hard link has the times of the file it shares. */
export function sweep(dir: string, now: number): void {
  quietly(() => rmdirSync(`${pathOf(dir)}.lock`));
  for (const folder of [dir, readersOf(dir)])
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (folder === dir && !name.startsWith(".build-")) continue;
      if (now - bornAt(path, name) > LEFT_OVER_MS)
        quietly(() => rmSync(path, { recursive: true, force: true }));
    }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function privateName(now: number): string {
  return `${now}-${process.pid}-${Math.random().toString(36).slice(2)}.sqlite`;
}

function bornAt(path: string, name: string): number {
  const time = /^(?:\.build-)?(\d{12,})-/.exec(name)?.[1];
  return time === undefined ? (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) : Number(time);
}

function discard(path: string): void {
  quietly(() => unlinkSync(path));
  quietly(() => rmdirSync(`${path}.lock`));
}

function quietly(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** When the files were last compared with this generation; beside it, since a generation is never written to. */
export function readScanStamp(dir: string, generation: string): Scan | undefined {
  try {
    const stamp = JSON.parse(readFileSync(stampOf(dir), "utf8")) as Scan & { generation: string };
    return stamp.generation === generation ? stamp : undefined;
  } catch {
    return undefined;
  }
}

export function writeScanStamp(dir: string, generation: string, scan: Scan): void {
  quietly(() => replaceFile(stampOf(dir), scan.at, JSON.stringify({ generation, ...scan })));
}

/** Readers see the old content or the new one. */
export function replaceFile(path: string, now: number, content: string | Buffer): void {
  const temporary = join(dirname(path), `.build-${privateName(now)}`);
  try {
    writeFileSync(temporary, content);
    renameSync(temporary, path);
  } catch (error) {
    quietly(() => unlinkSync(temporary));
    throw error;
  }
}

/** Different for every published generation; undefined when there is none. Links to it change none of this. */
export function identityOf(dir: string): string | undefined {
  const stat = statSync(pathOf(dir), { throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}` : undefined;
}
