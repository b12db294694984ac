import { readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import { idNumber } from "../core/ids.ts";
import { taskFile } from "../core/paths.ts";
import type { Problem, TaskSummary } from "../core/ports.ts";
import { type FullYaml, parseRecord } from "../core/record.ts";
import { type Task, task } from "../core/records/task.ts";
import { namesIn, readRecordText } from "./files.ts";
import type { Home } from "./layout.ts";

interface TaskList {
  tasks: TaskSummary[];
  problems: Problem[];
}

/**
 * Summaries of all tasks. A generated snapshot beside the search index spares the parsing of files whose
 * ctime, size and inode are the ones it was made from; it is never trusted for anything else.
 */
export function listTasks(home: Home, fullYaml: FullYaml | undefined, now: number): TaskList {
  const known = readSnapshot(home);
  const list: TaskList = { tasks: [], problems: [] };
  const rows: Row[] = [];
  const folder = join(home.state, "tasks");
  let missed = 0;
  for (const name of namesIn(folder)) {
    if (!/^T\d{4,}$/.test(name)) continue;
    // Put together by hand: normalising ten thousand paths costs as much as asking for the files.
    const stat = statSync(`${folder}/${name}/task.md`, { throwIfNoEntry: false });
    // A folder without its task.md was not made by us; the tasks beside it are still worth listing.
    if (!stat) continue;
    const row = known.get(name);
    if (row && isSame(row, stat)) {
      rows.push(row);
      list.tasks.push(toSummary(row));
      continue;
    }
    missed++;
    const summary = readSummary(home, name, fullYaml, list.problems);
    if (!summary) continue;
    rows.push(toRow(name, stat, summary));
    list.tasks.push(summary);
  }
  if (missed > SAVE_AFTER || (missed > 0 && fullYaml)) saveSnapshot(home, rows, now);
  list.tasks.sort((a, b) => idNumber(a.id) - idNumber(b.id));
  return list;
}

/** Re-reading a few changed files is cheaper than rewriting the snapshot each time. */
const SAVE_AFTER = 16;
/** Files this young are read again next time: within one tick of the clock a rewrite can look like the original. */
const SETTLED_MS = 2_000;
const SCHEMA = 2;

/** One task in the snapshot; values without their names, because at ten thousand tasks the names cost more. */
type Row = [name: string, ctimeMs: number, size: number, ino: number, ...values: unknown[]];
const BEFORE_VALUES = 4;
const KEYS = [
  ...(["id", "title", "status", "profile", "branch", "base_branch", "labels", "depends_on"] as const),
  ...(["blocker", "next", "archived", "slices_open", "rev", "actor", "created", "updated"] as const),
] satisfies (keyof TaskSummary)[];

function toRow(name: string, stat: Stats, summary: TaskSummary): Row {
  return [name, stat.ctimeMs, stat.size, stat.ino, ...KEYS.map((key) => summary[key] ?? null)];
}

function toSummary(row: Row): TaskSummary {
  const summary: Record<string, unknown> = {};
  for (let index = 0; index < KEYS.length; index++)
    summary[KEYS[index] ?? ""] = row[BEFORE_VALUES + index] ?? undefined;
  return summary as unknown as TaskSummary;
}

const isSame = (row: Row, stat: Stats) =>
  row[1] === stat.ctimeMs && row[2] === stat.size && row[3] === stat.ino;

function readSummary(
  home: Home,
  name: string,
  fullYaml: FullYaml | undefined,
  problems: Problem[],
): TaskSummary | undefined {
  const path = taskFile(name);
  try {
    const text = readRecordText(home, path);
    return summarise(parseRecord(task, path, text, fullYaml, join(home.shown, path)).value);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    problems.push({ file: path, message: error.message, hint: error.hint });
    return undefined;
  }
}

function summarise(value: Task): TaskSummary {
  return {
    id: value.id,
    title: value.title,
    status: value.status,
    profile: value.profile,
    branch: value.branch,
    base_branch: value.base_branch,
    labels: value.labels,
    depends_on: value.depends_on,
    blocker: value.blocker,
    next: value.next,
    archived: value.archived,
    slices_open: value.slices.filter((slice) => slice.status === "open").length,
    rev: value.rev,
    actor: value.actor,
    created: value.created,
    updated: value.updated,
  };
}

const snapshotFile = (home: Home) => join(home.local, "tasks.cache");

interface Snapshot {
  schema: number;
  /** Inode of the state folder: another folder at the same place makes a snapshot useless. */
  state: number;
  rows: Row[];
}

function readSnapshot(home: Home): Map<string, Row> {
  try {
    const snapshot = JSON.parse(readFileSync(snapshotFile(home), "utf8")) as Snapshot;
    if (snapshot.schema === SCHEMA && snapshot.state === statSync(home.state).ino)
      return new Map(snapshot.rows.map((row) => [row[0], row]));
  } catch {
    // Missing or damaged: it is made anew from the files.
  }
  return new Map();
}

/** Best effort: a list that cannot leave a snapshot behind is still a list. */
function saveSnapshot(home: Home, rows: Row[], now: number): void {
  const settled = rows.filter((row) => now - row[1] > SETTLED_MS);
  const snapshot: Snapshot = { schema: SCHEMA, state: statSync(home.state).ino, rows: settled };
  const temporary = join(home.local, `.tasks-${process.pid}.tmp`);
  try {
    writeFileSync(temporary, JSON.stringify(snapshot));
    renameSync(temporary, snapshotFile(home));
  } catch {
    rmSync(temporary, { force: true });
  }
}
