import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { jsonIfReadable, statIfPresent } from "./read.ts";

/**
 * Answers that are dear to make again, each with all that it was made from, in one file of a clone. Anybody can write
 * that file, so nothing may be decided on it.
 */
type Remembered = [name: string, from: string, answer: unknown][];

const MOST = 64;
const fileIn = (folder: string) => `${folder}/answers.cache`;

/** The answer of this name, if it was made from exactly this. */
export function recall<T>(folder: string, name: string, from = ""): T | undefined {
  const known = read(folder).find((one) => one?.[0] === name);
  return known?.[1] === from ? (known[2] as T) : undefined;
}

export function remember(folder: string, name: string, from: string, answer: unknown): void {
  const others = read(folder).filter((one) => one?.[0] !== name);
  keepIfPossible(fileIn(folder), JSON.stringify([[name, from, answer], ...others].slice(0, MOST)));
}

/**
 * Replaces a file that can be made again at any time, so that a reader sees the old or the new one, whole. Where there is
 * no room, or it is not ours to write, nothing is kept, and nobody is stopped by it.
 */
export function keepIfPossible(path: string, text: string, writtenMs?: number): void {
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, text);
    if (writtenMs !== undefined) utimesSync(fresh, writtenMs / 1000, writtenMs / 1000);
    renameSync(fresh, path);
  } catch {
    if (existsSync(fresh)) rmSync(fresh, { force: true });
  }
}

/** What was read last: one command asks for several answers, and the file is only ever replaced as a whole. */
let latest: { file: string; inode: number; ctimeMs: number; answers: Remembered } | undefined;

function read(folder: string): Remembered {
  const file = fileIn(folder);
  const stat = statIfPresent(file);
  if (!stat) return [];
  const { ino: inode, ctimeMs } = stat;
  if (latest?.file !== file || latest.inode !== inode || latest.ctimeMs !== ctimeMs) {
    const found = jsonIfReadable<unknown>(file);
    latest = { file, inode, ctimeMs, answers: Array.isArray(found) ? (found as Remembered) : [] };
  }
  return latest.answers;
}
