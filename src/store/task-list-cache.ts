import { rmSync, type Stats, statSync, utimesSync } from "node:fs";
import { keepIfPossible } from "../files/cache.ts";
import { bytesOf } from "../files/read.ts";
import { ENDED, LIVE } from "../model/lifecycle.ts";
import type { TaskSummary } from "../ports/ports.ts";
import type { Cursor } from "./event-cursor.ts";
import type { Home } from "./layout.ts";

/** One task in the cache; values without their names, because at ten thousand tasks the names cost more. */
export type Row = [name: string, ctimeMs: number, size: number, ino: number, ...values: unknown[]];

const KEYS = [
  ...(["id", "title", "status", "profile", "branch", "base_branch", "labels", "depends_on"] as const),
  ...(["blocker", "next", "archived", "slices_open", "rev", "actor", "created", "updated"] as const),
] satisfies (keyof TaskSummary)[];

export function toRow(name: string, stat: Stats, summary: TaskSummary): Row {
  return [name, stat.ctimeMs, stat.size, stat.ino, ...KEYS.map((key) => summary[key] ?? null)];
}

/** Written out in the order of KEYS: objects of one shape are made several times faster than ones filled by key. */
export function toSummary(row: Row): TaskSummary {
  return {
    id: row[4],
    title: row[5],
    status: row[6],
    profile: row[7],
    branch: row[8] ?? undefined,
    base_branch: row[9] ?? undefined,
    labels: row[10],
    depends_on: row[11],
    blocker: row[12] ?? undefined,
    next: row[13],
    archived: row[14],
    slices_open: row[15],
    rev: row[16],
    actor: row[17],
    created: row[18],
    updated: row[19],
  } as TaskSummary;
}

/** The file is still what it was when this was made of it. */
export const isSame = (row: Row, stat: Stats) =>
  row[1] === stat.ctimeMs && row[2] === stat.size && row[3] === stat.ino;

/** Somebody works on it. */
export const isLive = (task: TaskSummary) => LIVE.includes(task.status);

/** Nobody works on it any more, so most commands need no more of it than that it is there. */
export const isPast = (task: TaskSummary) => task.archived || ENDED.includes(task.status);

/** A generated picture of all tasks in two files: those in play, and the many that are past. */
export interface TaskListCache {
  /** The few that somebody works on. */
  live: Row[];
  /** The others in play, read only when they are asked for; undefined where the file is damaged. */
  waiting(): Row[] | undefined;
  /** Read only when it is asked for; empty when it does not belong to the other file. */
  past(): Row[];
  /** How many past tasks have which status, archived ones left out. */
  counts: Record<string, number>;
  total: number;
  /** The highest number there was: whatever is above is new. */
  highest: number;
  /** Tasks whose file could not be read: every command looks at them again, and tells of them. */
  unreadable: string[];
  cursor: Cursor;
  /** The same in both files, which are written one after the other. */
  twin: string;
  /** When all files were last looked at: the time of the cache's own file. */
  checked: number;
}

/** The first line of its file; the rows of `waiting` are the second. */
interface CurrentFile extends Omit<TaskListCache, "waiting" | "past" | "checked"> {
  schema: number;
  /** Inode of the state folder: another folder at the same path makes the cache useless. */
  state: number;
}

interface PastFile {
  twin: string;
  rows: Row[];
}

const SCHEMA = 7;
const currentFile = (home: Home) => `${home.local}/tasks.cache`;
const pastFile = (home: Home) => `${home.local}/tasks-past.cache`;

const NOTHING: TaskListCache = {
  live: [],
  waiting: () => [],
  past: () => [],
  counts: {},
  total: 0,
  highest: 0,
  unreadable: [],
  cursor: {},
  twin: "",
  checked: 0,
};

export function readTaskListCache(home: Home): TaskListCache {
  try {
    const checked = statSync(currentFile(home)).mtimeMs;
    const bytes = bytesOf(currentFile(home));
    const end = bytes.indexOf("\n");
    const file = parse<CurrentFile>(bytes.subarray(0, end));
    if (file.schema !== SCHEMA || file.state !== statSync(home.state).ino) return NOTHING;
    let waiting: { rows: Row[] | undefined } | undefined;
    return {
      ...file,
      checked,
      waiting() {
        waiting ??= { rows: parseIfWhole(bytes.subarray(end)) };
        return waiting.rows;
      },
      past: () => readPast(home, file.twin),
    };
  } catch {
    // Missing or damaged: it is made anew from the files.
    return NOTHING;
  }
}

function parseIfWhole(bytes: Buffer): Row[] | undefined {
  try {
    return parse<Row[]>(bytes);
  } catch {
    return undefined;
  }
}

function readPast(home: Home, twin: string): Row[] {
  try {
    const file = parse<PastFile>(bytesOf(pastFile(home)));
    return file.twin === twin ? file.rows : [];
  } catch {
    return [];
  }
}

/** Nothing but ASCII is written: to decode two megabytes of anything else takes longer than to parse half of them. */
const parse = <T>(bytes: Buffer) => JSON.parse(bytes.toString("latin1")) as T;

const print = (file: CurrentFile | PastFile | Row[]) =>
  JSON.stringify(file).replace(
    /[\u0080-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

type Seen = Omit<TaskListCache, "live" | "waiting" | "past" | "twin"> & { current: Row[] };

export function writeTaskListCache(home: Home, seen: Seen, past: Row[]): void {
  const twin = `${process.pid}-${seen.checked}-${total(seen.cursor)}`;
  keepIfPossible(pastFile(home), print({ twin, rows: past }), seen.checked);
  writeCurrent(home, { ...seen, twin });
}

/** Where nothing that is past has changed, this much is enough. */
export function writeCurrent(home: Home, seen: Seen & Pick<TaskListCache, "twin">): void {
  const { checked, current, counts, highest, unreadable, cursor, twin } = seen;
  const state = statSync(home.state).ino;
  const live = current.filter((row) => isLive(toSummary(row)));
  const file = { schema: SCHEMA, state, twin, live, counts, total: seen.total, highest, unreadable, cursor };
  const waiting = current.filter((row) => !live.includes(row));
  keepIfPossible(currentFile(home), `${print(file)}\n${print(waiting)}`, checked);
}

/** For changes that no event of ours tells of. */
export function forgetTaskListCache(home: Home): void {
  rmSync(currentFile(home), { force: true });
}

export function markComplete(home: Home, now: number): void {
  try {
    utimesSync(currentFile(home), now / 1000, now / 1000);
  } catch {
    // Not ours to write: the next command looks at all files again.
  }
}

export const total = (cursor: Cursor) => Object.values(cursor).reduce((sum, size) => sum + size, 0);
