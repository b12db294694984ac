import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonIfReadable } from "../files/read.ts";

/** What an answer was made from, word for word, and the answer: worth keeping where making it again is dear. */
type Remembered = Record<string, { from: string; answer: string }>;

const MOST = 32;
const fileIn = (local: string) => join(local, "answers.cache");

/** The answer, if it was made from exactly this. Anybody can write the file, so nothing may be decided on it. */
export function recall(local: string, name: string, from: string): string | undefined {
  const known = read(local)[name];
  return known?.from === from ? known.answer : undefined;
}

export function remember(local: string, name: string, from: string, answer: string): void {
  const { [name]: _, ...others } = read(local);
  const kept = Object.fromEntries(Object.entries(others).slice(0, MOST - 1));
  const fresh = `${fileIn(local)}.${process.pid}`;
  try {
    writeFileSync(fresh, JSON.stringify({ [name]: { from, answer }, ...kept }));
    renameSync(fresh, fileIn(local));
  } catch {
    rmSync(fresh, { force: true });
  }
}

const read = (local: string) => jsonIfReadable<Remembered>(fileIn(local)) ?? {};
