import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isFolder, jsonIfReadable, namesIfReadable } from "../../files/read.ts";
import type { Scan } from "./freshness.ts";
import type { Connection } from "./sqlite.ts";

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

/** A generation that this process has open. */
export interface Opened {
  connection: Connection;
  dir: string;
  /** What tells it from all others that were ever published here. */
  identity: string;
  bytes: number;
}

/** undefined when there is no generation, or when this directory does not let us open one. */
export function openGeneration(
  dir: string,
  now: number,
  open: (path: string) => Connection,
): Opened | undefined {
  const path = join(readersOf(dir), privateName(now));
  try {
    const file = linkGeneration(dir, path);
    return file && { ...file, dir, connection: open(path) };
  } finally {
    // An open file needs no name any more, and a process that is killed leaves none.
    discard(path);
  }
}

type IndexFile = Pick<Opened, "identity" | "bytes">;

function linkGeneration(dir: string, path: string): IndexFile | undefined {
  for (let attempt = 0; attempt < LINK_ATTEMPTS; attempt++) {
    try {
      linkSync(pathOf(dir), path);
      return lookAt(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EACCES" || code === "EROFS") return undefined;
      // Linux also says ENOENT when the generation is replaced while it is being linked.
      if (code !== "ENOENT") return copyGeneration(dir, path);
      if (!existsSync(pathOf(dir)) || !makeReaders(dir)) return undefined;
    }
  }
  return undefined;
}

/** For file systems without hard links. */
function copyGeneration(dir: string, path: string): IndexFile | undefined {
  const file = lookAt(pathOf(dir));
  return quietly(() => copyFileSync(pathOf(dir), path, constants.COPYFILE_FICLONE)) ? file : undefined;
}

/** Links to a file change none of this, and every published generation differs in it. */
function lookAt(path: string): IndexFile {
  const { dev, ino, size, mtimeMs } = statSync(path);
  return { identity: `${dev} ${ino} ${size} ${mtimeMs}`, bytes: size };
}

function makeReaders(dir: string): boolean {
  return quietly(() => mkdirSync(readersOf(dir), { recursive: true }));
}

/** False when another process has published since. */
export function isCurrent({ dir, identity }: Opened): boolean {
  try {
    return lookAt(pathOf(dir)).identity === identity;
  } catch {
    return false;
  }
}

/** Lets `build` make a new generation, from a copy of the present one or from nothing, and puts it in place. */
export function publish(
  dir: string,
  now: number,
  from: "copy" | "nothing",
  build: (path: string) => void,
): void {
  const path = join(dir, `.build-${privateName(now)}`);
  try {
    mkdirSync(readersOf(dir), { recursive: true });
    if (from === "copy") copyFileSync(pathOf(dir), path, constants.COPYFILE_FICLONE);
    build(path);
    if (isFolder(pathOf(dir))) rmSync(pathOf(dir), { recursive: true });
    renameSync(path, pathOf(dir));
  } finally {
    discard(path);
  }
}

/** What killed processes left behind. The age is in the name: a hard link has the times of the file it shares. */
export function sweep(dir: string, now: number): void {
  quietly(() => rmdirSync(`${pathOf(dir)}.lock`));
  // A second index, which 0.1.0 kept.
  quietly(() => rmSync(join(dir, "index.quick"), { force: true }));
  for (const folder of [dir, readersOf(dir)])
    for (const name of namesIfReadable(folder)) {
      const path = join(folder, name);
      if (folder === dir && !name.startsWith(".build-")) continue;
      if (now - bornAt(path, name) > LEFT_OVER_MS)
        quietly(() => rmSync(path, { recursive: true, force: true }));
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
  const stamp = jsonIfReadable<Scan & { generation: string }>(stampOf(dir));
  return stamp?.generation === generation ? stamp : undefined;
}

/** Readers see the old stamp or the new one. */
export function writeScanStamp(dir: string, generation: string, scan: Scan): void {
  const temporary = join(dir, `.build-${privateName(scan.at)}`);
  quietly(() => {
    writeFileSync(temporary, JSON.stringify({ generation, ...scan }));
    renameSync(temporary, stampOf(dir));
  });
  quietly(() => unlinkSync(temporary));
}
