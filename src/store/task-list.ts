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

/**
 * Summaries of all tasks. A generated snapshot beside the search index spares the parsing of files whose
 * ctime, size and inode are the ones it was made from; it is never trusted for anything else.
 */
export function listTasks(
  home: Home,
  fullYaml: FullYaml | undefined,
  now: number,
): { tasks: TaskSummary[]; problems: Problem[] } {
  const snapshot = readSnapshot(home);
  const rows: Row[] = [];
  let missed = 0;
  for (const name of namesIn(join(home.state, "tasks"))) {
    if (!/^T\d{4,}$/.test(name)) continue;
    const stat = statSync(join(home.state, taskFile(name)), { throwIfNoEntry: false });
    // A folder without its task.md was not made by us; the tasks beside it are still worth listing.
    if (!stat) continue;
    const signature = signatureOf(stat);
    const known = snapshot.get(name);
    if (known?.signature === signature) rows.push(known);
    else {
      missed++;
      rows.push(readRow(home, name, signature, stat, fullYaml));
    }
  }
  if (missed > SAVE_AFTER || (missed > 0 && fullYaml)) saveSnapshot(home, rows, now);
  return assemble(rows);
}

/** Re-reading a few changed files is cheaper than rewriting the snapshot each time. */
const SAVE_AFTER = 16;
/** Files this young are read again next time: within one tick of the clock a rewrite can look like the original. */
const SETTLED_MS = 2_000;
const SCHEMA = "pawl-tasks 1";

interface Row {
  name: string;
  signature: string;
  changed: number;
  json: string;
  summary?: TaskSummary;
  problem?: Problem;
}

function readRow(
  home: Home,
  name: string,
  signature: string,
  stat: Stats,
  fullYaml: FullYaml | undefined,
): Row {
  const base = { name, signature, changed: stat.ctimeMs };
  const path = taskFile(name);
  try {
    const { value } = parseRecord(task, path, readRecordText(home, path), fullYaml, join(home.shown, path));
    const summary = summarise(value);
    return { ...base, summary, json: JSON.stringify(summary) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...base, json: "", problem: { file: path, message: error.message, hint: error.hint } };
  }
}

export function summarise(value: Task): TaskSummary {
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

function assemble(rows: Row[]): { tasks: TaskSummary[]; problems: Problem[] } {
  const tasks: TaskSummary[] = [];
  const problems: Problem[] = [];
  for (const row of rows) {
    if (row.problem) problems.push(row.problem);
    else tasks.push(row.summary ?? (JSON.parse(row.json) as TaskSummary));
  }
  tasks.sort((a, b) => idNumber(a.id) - idNumber(b.id));
  return { tasks, problems };
}

const signatureOf = (stat: Stats) => `${stat.ctimeMs} ${stat.size} ${stat.ino}`;
const snapshotFile = (home: Home) => join(home.local, "tasks.cache");

function readSnapshot(home: Home): Map<string, Row> {
  const known = new Map<string, Row>();
  let text: string;
  try {
    text = readFileSync(snapshotFile(home), "utf8");
  } catch {
    return known;
  }
  const lines = text.split("\n");
  if (lines[0] !== header(home) || lines.at(-1) !== "end") return known;
  for (let index = 1; index < lines.length - 1; index++) {
    const [name = "", signature = "", json = ""] = (lines[index] ?? "").split("\t");
    known.set(name, { name, signature, changed: 0, json });
  }
  return known;
}

/** Another state folder at the same place makes a snapshot useless. */
function header(home: Home): string {
  return `${SCHEMA} ${statSync(home.state).ino}`;
}

/** Best effort: a list that cannot leave a snapshot behind is still a list. */
function saveSnapshot(home: Home, rows: Row[], now: number): void {
  const settled = rows.filter((row) => !row.problem && now - row.changed > SETTLED_MS);
  const lines = settled.map((row) => `${row.name}\t${row.signature}\t${row.json}`);
  const temporary = join(home.local, `.tasks-${process.pid}.tmp`);
  try {
    writeFileSync(temporary, [header(home), ...lines, "end"].join("\n"));
    renameSync(temporary, snapshotFile(home));
  } catch {
    rmSync(temporary, { force: true });
  }
}
