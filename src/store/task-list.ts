import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import { idNumber } from "../model/ids.ts";
import { taskFile } from "../model/paths.ts";
import type { Problem } from "../model/record.ts";
import { type FullYaml, parseRecord } from "../model/record.ts";
import { type Task, task } from "../model/records/task.ts";
import type { CurrentTasks, TaskSummary } from "../ports/ports.ts";
import { type Cursor, changedSince, cursorNow, type Tail } from "./event-cursor.ts";
import { readRecordText } from "./files.ts";
import type { Home } from "./layout.ts";
import {
  isLive,
  isPast,
  isSame,
  markComplete,
  type Row,
  readTaskListCache,
  type TaskListCache,
  toRow,
  toSummary,
  total,
  writeCurrent,
  writeTaskListCache,
} from "./task-list-cache.ts";

interface TaskList {
  tasks: TaskSummary[];
  problems: Problem[];
}

/** Below this many tasks every file is looked at every time. */
const ALWAYS_COMPLETE = 200;
const COMPLETE_EVERY_MS = 60_000;
/** Re-reading a few changed files is cheaper than writing down everything that is past each time. */
const SAVE_AFTER = 16;
/** A longer tail of the event logs costs every command more than writing the cache anew. */
const SAVE_AFTER_BYTES = 32_768;
/** Files this young are read again next time: within one tick of the clock a rewrite can look like the original. */
const SETTLED_MS = 2_000;

/**
 * Summaries of all tasks. A cache spares the parsing of files whose ctime, size and inode are the ones it was
 * made from. Asking for a thousand files takes half as long as starting Node, so tasks that are past are not even
 * asked for: our own writes are known from the event logs, and an edit by hand of a past task is seen with the next
 * complete look, within a minute.
 */
export function listTasks(home: Home, fullYaml: FullYaml | undefined, now: number): TaskList {
  // Before anything is read, so that a write that comes meanwhile is found again next time.
  const cursor = cursorNow(home);
  const cache = readTaskListCache(home);
  const tail = recentTail(home, cache, now);
  const past = byName(cache.past());
  const current = byName(inPlay(cache));
  const isWhole = past.size + current.size === cache.total;
  const recent = new Set(tail ? tasksIn(tail.paths) : []);
  const unreadable = new Set(cache.unreadable);
  const names =
    tail && isWhole
      ? [...new Set([...past.keys(), ...current.keys(), ...unreadable, ...recent])]
      : namesIfPresent(`${home.state}/tasks`).filter((name) => /^T\d{4,}$/.test(name));
  names.sort(byNumber);
  const list: TaskList = { tasks: [], problems: [] };
  const rows: Row[] = [];
  const changed: Row[] = [];
  let stale = false;
  for (const name of names) {
    const known = past.get(name);
    const trusted = known && tail && !recent.has(name) ? known : undefined;
    const row = trusted ?? look(home, name, known ?? current.get(name), fullYaml, list.problems);
    if (known && row !== known) stale = true;
    if (!row) continue;
    if (row !== known && row !== current.get(name)) changed.push(row);
    rows.push(row);
    list.tasks.push(toSummary(row));
  }
  // One that the cache does not know would be passed over next time.
  if (
    tasksIn(list.problems.map((one) => one.file)).some((name) => !current.has(name) && !unreadable.has(name))
  )
    stale = true;
  const complete = tail === undefined;
  keep(home, { list, rows, cursor, changed, stale, cache, isWhole, complete, fullYaml, now });
  return list;
}

const byNumber = (a: string, b: string) => a.length - b.length || (a < b ? -1 : 1);

const byName = (rows: readonly Row[]) => new Map(rows.map((row) => [row[0], row]));

const inPlay = (cache: TaskListCache) => [...cache.live, ...(cache.waiting() ?? [])];

/** The tasks in play, and how many are past; looks at no past task at all where that is safe. */
export const currentTasks = (home: Home, fullYaml: FullYaml | undefined, now: number): CurrentTasks =>
  tasksInPlay(home, fullYaml, now, true);

/** The tasks that somebody works on; one that waits is not looked at either, unless an event tells of it. */
export function liveTasks(home: Home, fullYaml: FullYaml | undefined, now: number): TaskSummary[] {
  return tasksInPlay(home, fullYaml, now, false).tasks.filter(isLive);
}

function tasksInPlay(home: Home, fullYaml: FullYaml | undefined, now: number, all: boolean): CurrentTasks {
  const cache = readTaskListCache(home);
  const tail = recentTail(home, cache, now);
  const recent = tail ? tasksIn(tail.paths) : [];
  const waiting = all ? cache.waiting() : [];
  const known = byName([...cache.live, ...(waiting ?? [])]);
  const knows = (name: string) => known.get(name) ?? cache.waiting()?.find((row) => row[0] === name);
  const fresh = recent.filter((name) => !knows(name));
  if (!tail || !waiting || fresh.some((name) => idNumber(name) <= cache.highest))
    return split(listTasks(home, fullYaml, now));
  const list: TaskList = { tasks: [], problems: [] };
  const rows: Row[] = [];
  const names = new Set([...known.keys(), ...cache.unreadable, ...recent]);
  for (const name of [...names].sort(byNumber)) {
    const row = look(home, name, knows(name), fullYaml, list.problems);
    if (!row) continue;
    rows.push(row);
    list.tasks.push(toSummary(row));
  }
  const changed = rows.filter((row) => row !== knows(row[0]));
  keepCurrent(home, cache, changed, cache.checked, now);
  return split(list, cache.counts);
}

const tasksIn = (paths: Iterable<string>) =>
  [...paths].flatMap((path) => /^tasks\/(T\d+)\/task\.md$/.exec(path)?.[1] ?? []);

function split(list: TaskList, counts: Readonly<Record<string, number>> = {}): CurrentTasks {
  const past = countPast(list.tasks, counts);
  return { tasks: list.tasks.filter((one) => !isPast(one)), past, problems: list.problems };
}

function countPast(tasks: readonly TaskSummary[], from: Readonly<Record<string, number>> = {}) {
  const counts = { ...from };
  for (const one of tasks)
    if (isPast(one) && !one.archived) counts[one.status] = (counts[one.status] ?? 0) + 1;
  return counts;
}

/** What was written since the cache was made, if it is young enough to be believed about past tasks. */
function recentTail(home: Home, cache: TaskListCache, now: number): Tail | undefined {
  if (cache.total <= ALWAYS_COMPLETE || Math.abs(now - cache.checked) > COMPLETE_EVERY_MS) return undefined;
  return changedSince(home, cache.cursor);
}

/** The known row if its file is the one it was made from, else a new one; undefined for no file or a broken one. */
function look(
  home: Home,
  name: string,
  known: Row | undefined,
  fullYaml: FullYaml | undefined,
  problems: Problem[],
): Row | undefined {
  // Put together by hand: normalising ten thousand paths costs as much as asking for the files.
  const stat = statOr(`${home.state}/tasks/${name}/task.md`, name, problems);
  // A folder without its task.md was not made by us; the tasks beside it are still worth listing.
  if (!stat) return undefined;
  return known && isSame(known, stat) ? known : readRow(home, name, stat, fullYaml, problems);
}

/** A file that the system will not even describe (a loop of links, a folder we may not enter) hides no other. */
function statOr(path: string, name: string, problems: Problem[]): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problems.push({ file: taskFile(name), message: `${path} cannot be read (${code}).`, hint: undefined });
    return undefined;
  }
}

function readRow(
  home: Home,
  name: string,
  stat: Stats,
  fullYaml: FullYaml | undefined,
  problems: Problem[],
): Row | undefined {
  const path = taskFile(name);
  try {
    const text = readRecordText(home, path);
    const { value } = parseRecord(task, path, text, fullYaml, join(home.shown, path));
    return toRow(name, stat, summarise(value));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    problems.push({ file: path, message: error.message, hint: error.hint });
    return undefined;
  }
}

function summarise(value: Task): TaskSummary {
  const { id, title, status, profile, branch, base_branch, labels, depends_on, blocker, next, archived } =
    value;
  const { rev, actor, created, updated } = value;
  return {
    id,
    title,
    status,
    profile,
    branch,
    base_branch,
    labels,
    depends_on,
    blocker,
    next,
    archived,
    slices_open: value.slices.filter((slice) => slice.status === "open").length,
    rev,
    actor,
    created,
    updated,
  };
}

interface Seen {
  list: TaskList;
  rows: Row[];
  cursor: Cursor;
  /** Those of the rows that the cache did not have. */
  changed: Row[];
  /** A past row is not what it was, or a file cannot be read that could before: believed once more, it would hide that. */
  stale: boolean;
  cache: TaskListCache;
  /** Every task that the cache was made from is in it. */
  isWhole: boolean;
  complete: boolean;
  fullYaml: FullYaml | undefined;
  now: number;
}

function keep(home: Home, seen: Seen): void {
  const { rows, cursor, cache, now } = seen;
  const isLarge = rows.length > ALWAYS_COMPLETE;
  const isGrown = isLarge && total(cursor) - total(cache.cursor) > SAVE_AFTER_BYTES;
  const missed = seen.changed.length;
  const isWorthIt = missed > 0 && (seen.fullYaml !== undefined || !seen.isWhole);
  if (!isGrown && !isWorthIt && !seen.stale && missed <= SAVE_AFTER) {
    const isChecked = seen.complete && isLarge && cache.checked > 0;
    const isKept = keepCurrent(home, cache, seen.changed, isChecked ? now : cache.checked, now);
    if (isChecked && !isKept) markComplete(home, now);
    return;
  }
  const isPastRow = new Set(seen.list.tasks.filter(isPast).map((one) => one.id));
  const past = rows.filter((row) => isPastRow.has(row[0]) && isSettled(row, now));
  writeTaskListCache(
    home,
    {
      current: rows.filter((row) => !isPastRow.has(row[0])),
      counts: countPast(seen.list.tasks),
      total: rows.length,
      highest: Math.max(0, ...rows.map((row) => idNumber(row[0]))),
      unreadable: tasksIn(seen.list.problems.map((one) => one.file)),
      cursor,
      checked: seen.complete ? now : cache.checked,
    },
    past,
  );
}

const isSettled = (row: Row, now: number) => now - row[1] > SETTLED_MS;

/** So that a task in play is parsed once after each change, and not by every command that follows. */
function keepCurrent(
  home: Home,
  cache: TaskListCache,
  unknown: readonly Row[],
  checked: number,
  now: number,
): boolean {
  const changed = unknown.filter((row) => isSettled(row, now));
  // Rows that were cut off would be written down as none.
  const isWhole = cache.waiting() !== undefined;
  if (changed.length === 0 || cache.checked === 0 || !isWhole) return false;
  const current = inPlay(cache);
  const rows = byName(current);
  for (const row of changed) rows.set(row[0], row);
  writeCurrent(home, {
    ...cache,
    current: [...rows.values()],
    total: cache.total + rows.size - current.length,
    highest: Math.max(cache.highest, ...changed.map((row) => idNumber(row[0]))),
    checked,
  });
  return true;
}
