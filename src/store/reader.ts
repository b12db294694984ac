import { existsSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { readApprovers } from "../model/approvers.ts";
import { readConfigText } from "../model/config.ts";
import { Failure } from "../model/failure.ts";
import { idNumber } from "../model/ids.ts";
import {
  noteFile,
  partFile,
  partFolder,
  receiptFile,
  repositoryFile,
  taskFile,
  touchedFile,
  unlockFile,
} from "../model/paths.ts";
import type { Problem } from "../model/record.ts";
import { type FullYaml, type Kind, parseRecord, type Stored } from "../model/record.ts";
import { note, touched } from "../model/records/parts.ts";
import { receipt, repository, run } from "../model/records/run.ts";
import { task } from "../model/records/task.ts";
import { unlock } from "../model/records/unlock.ts";
import type { Reader, TaskSummary } from "../ports/ports.ts";
import { readEvents } from "./event-log.ts";
import { readRecordText } from "./files.ts";
import { remoteHasState, stateExists } from "./home.ts";
import type { Home } from "./layout.ts";
import { whoWorks } from "./movers.ts";
import { listRuns } from "./run-list.ts";
import { readSeen } from "./seen-claims.ts";
import { currentTasks, listTasks, liveTasks } from "./task-list.ts";
import { isLive } from "./task-list-cache.ts";

/** States that were there for an earlier reader of the same command; whoever writes looks again. */
const found = new WeakSet<Home>();

function isThere(home: Home): boolean {
  if (found.has(home)) return true;
  const exists = stateExists(home);
  if (exists) found.add(home);
  return exists;
}

export function openReader(home: Home, fullYaml: FullYaml | undefined, now: number): Reader {
  const exists = isThere(home);
  const parse = openParser(home, fullYaml);
  const perhaps = <K extends Kind>(kind: K, path: string) =>
    exists && existsSync(`${home.state}/${path}`) ? parse(kind, path) : undefined;
  const folder = openLister(home, exists);
  const all = <K extends Kind>(kind: K, paths: string[]) => collect(paths, (path) => parse(kind, path));

  const runFiles = (id: string) =>
    recordNames(folder(partFolder(run, id)), run).map((name) => partFile(run, id, name));
  const hasTask = (id: string) => exists && existsSync(`${home.state}/${taskFile(id)}`);
  const existing = (id: string) => {
    if (hasTask(id)) return taskFile(id);
    throw noSuch("task", id, "`pawl task list` shows the tasks there are.");
  };

  return {
    exists,
    waits: () => !exists && remoteHasState(home),
    ...openTaskLists(home, exists, fullYaml, now),
    hasTask,
    task: (id) => parse(task, existing(id)),
    taskText: (id) => readRecordText(home, existing(id)),
    parse: (kind, path, text, shown) => parseRecord(kind, path, text, fullYaml, shown),
    part(kind, taskName, part) {
      const path = partFile(kind, taskName, part);
      const hint = `\`pawl task show ${taskName}\` lists what the task has.`;
      if (exists && existsSync(`${home.state}/${path}`)) return parse(kind, path);
      // Whoever mistyped the task is told so, and not that it lacks this part.
      existing(taskName);
      throw noSuch(kind.name, `${taskName}/${part}`, hint);
    },
    parts: (kind, taskName) =>
      all(
        kind,
        recordNames(folder(partFolder(kind, taskName)), kind).map((name) => partFile(kind, taskName, name)),
      ),
    runs: (tasks) => listRuns(home, tasks.flatMap(runFiles), (path) => parse(run, path), now),
    partNames: (kind, taskName) => folder(partFolder(kind, taskName)),
    taskNames: () => folder("tasks"),
    notes: () => all(note, recordNames(folder("notes"), note).map(noteFile)),
    noteNames: () => folder("notes"),
    unlocks: () => all(unlock, recordNames(folder("unlocks"), unlock).map(unlockFile)),
    unlockNames: () => folder("unlocks"),
    touched(taskName) {
      const clones = stems(folder(`tasks/${taskName}/touched`));
      const files = clones.map((name) => touchedFile(taskName, name));
      return latestFirst(all(touched, files).records);
    },
    touchedBy: (taskName, clone) => perhaps(touched, touchedFile(taskName, clone)),
    ...whoWorks(home),
    config: (where, text) => readConfigText(where, text, fullYaml),
    approvers: (where, text) => readApprovers(where, text, fullYaml),
    hasFile: (path) => exists && existsSync(`${home.state}/${path}`),
    fileText: (path) => (exists ? textIfPresent(`${home.state}/${path}`) : undefined),
    events: (wanted) => (exists ? readEvents(home, wanted) : []),
    receipt: (taskName) => perhaps(receipt, receiptFile(taskName)),
    claims: () => readSeen(home),
    repositories: () => all(repository, stems(folder("repos")).map(repositoryFile)),
  };
}

/** Each list is made once for a reader; whoever has asked for all tasks in play has those that are worked on. */
function openTaskLists(
  home: Home,
  exists: boolean,
  fullYaml: FullYaml | undefined,
  now: number,
): Pick<Reader, "tasks" | "current" | "live"> {
  let all: ReturnType<Reader["tasks"]> | undefined;
  let current: ReturnType<Reader["current"]> | undefined;
  let live: TaskSummary[] | undefined;
  return {
    tasks() {
      all ??= exists ? listTasks(home, fullYaml, now) : { tasks: [], problems: [] };
      return all;
    },
    current() {
      current ??= exists ? currentTasks(home, fullYaml, now) : { tasks: [], past: {}, problems: [] };
      return current;
    },
    live() {
      live ??= current ? current.tasks.filter(isLive) : exists ? liveTasks(home, fullYaml, now) : [];
      return live;
    },
  };
}

/** What the readers before made of a text: a home is found once for each command, which reads the same records often. */
const earlier = new WeakMap<Home, Map<string, { text: string; stored: Stored<Kind> }>>();

/** One reader serves one gathering of facts, which may come by the same record on several ways. */
function openParser(home: Home, fullYaml: FullYaml | undefined) {
  const known = new Map<string, Stored<Kind>>();
  const parsed = earlier.get(home) ?? new Map();
  earlier.set(home, parsed);
  return <K extends Kind>(kind: K, path: string): Stored<K> => {
    const stored = known.get(path) ?? parse(kind, path);
    known.set(path, stored);
    return stored as Stored<K>;
  };
  function parse(kind: Kind, path: string): Stored<Kind> {
    const text = readRecordText(home, path);
    const before = parsed.get(path);
    if (before?.text === text) return before.stored;
    const stored = parseRecord(kind, path, text, fullYaml, join(home.shown, path));
    parsed.set(path, { text, stored });
    return stored;
  }
}

/** The names in a folder of the state; looked up once, because the same reader is asked for the same records in turn. */
function openLister(home: Home, exists: boolean) {
  const known = new Map<string, string[]>();
  return (path: string): string[] => {
    const names = known.get(path) ?? (exists ? namesIfPresent(`${home.state}/${path}`) : []);
    known.set(path, names);
    return names;
  };
}

/** Reads what can be read; what cannot is reported beside it and hides nothing. */
function collect<T>(paths: string[], read: (path: string) => T): { records: T[]; problems: Problem[] } {
  const records: T[] = [];
  const problems: Problem[] = [];
  for (const path of paths)
    try {
      records.push(read(path));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problems.push({ file: path, message: error.message, hint: error.hint });
    }
  return { records, problems };
}

/** Each file once, those of the latest record first. */
function latestFirst(records: Stored<typeof touched>[]): string[] {
  records.sort((a, b) => (a.value.updated < b.value.updated ? 1 : -1));
  return [...new Set(records.flatMap((record) => record.value.files))];
}

const stems = (names: string[]) =>
  names.filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -".md".length));

function recordNames(names: string[], { letter, ownFolder }: Kind): string[] {
  return (ownFolder ? names : stems(names))
    .filter((name) => name.startsWith(letter) && /^[A-Z]\d+$/.test(name))
    .sort((a, b) => idNumber(a) - idNumber(b));
}

function noSuch(kind: string, id: string, hint: string): Failure {
  return new Failure("not_found", `no_${kind}`, `There is no ${kind} ${id}.`, { hint, details: { id } });
}
