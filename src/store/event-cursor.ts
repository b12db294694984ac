import { statSync } from "node:fs";
import { namesIfPresent, textBetween } from "../files/read.ts";
import type { Home } from "./layout.ts";
import { hasUnfinishedWork } from "./unfinished.ts";

/** How far every event log was read: path → bytes. Each write of ours adds an event that names its file. */
export type Cursor = Record<string, number>;

export interface Tail {
  paths: Set<string>;
  cursor: Cursor;
  bytes: number;
}

/** More than this is not worth reading line by line: looking at the files themselves is as quick. */
const MOST_BYTES = 2 ** 20;

export function cursorNow(home: Home): Cursor {
  const sizes: Cursor = {};
  const logs = `${home.state}/events`;
  for (const clone of namesIfPresent(logs).sort())
    for (const name of namesIfPresent(`${logs}/${clone}`).sort()) {
      const stat = statSync(`${logs}/${clone}/${name}`, { throwIfNoEntry: false });
      if (stat?.isFile()) sizes[`events/${clone}/${name}`] = stat.size;
    }
  return sizes;
}

/** The files that writes touched since then; undefined when that cannot be told, and all files have to be looked at. */
export function changedSince(home: Home, before: Cursor): Tail | undefined {
  if (hasUnfinishedWork(home)) return undefined;
  const cursor = cursorNow(home);
  if (Object.keys(before).some((path) => (cursor[path] ?? -1) < (before[path] ?? 0))) return undefined;
  const tail: Tail = { paths: new Set(), cursor, bytes: 0 };
  for (const [path, size] of Object.entries(cursor)) {
    const from = before[path] ?? 0;
    tail.bytes += size - from;
    if (tail.bytes > MOST_BYTES) return undefined;
    if (size > from && !collect(textBetween(`${home.state}/${path}`, from, size), tail.paths))
      return undefined;
  }
  return tail;
}

/** False when a line cannot be understood: somebody was killed while writing it, or it is not ours. */
function collect(text: string, paths: Set<string>): boolean {
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const { path } = JSON.parse(line) as { path?: unknown };
      if (typeof path === "string") paths.add(path);
    } catch {
      return false;
    }
  }
  return true;
}
