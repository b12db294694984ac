import { Failure } from "../../model/failure.ts";
import { idNumber, taskOf } from "../../model/ids.ts";
import { partFile, taskFile } from "../../model/paths.ts";
import type { Kind, Problem, Stored, ValueOf } from "../../model/record.ts";
import { decision, finding, handoff, type Note } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import type { Likeness, Reader, TaskSummary } from "../../ports/ports.ts";
import { isCurrent } from "../notes.ts";
import { mentionsIn } from "./keywords.ts";
import type { Look } from "./look.ts";
import { normalPath } from "./own.ts";
import type { Candidate, Corpus, Subject } from "./relate.ts";

/**
 * How many tasks are read: enough for every real relative, few enough to stay fast with thousands of tasks.
 */
const MOST_TASKS = 20;
/**
 * Per kind of part, so that one dependency with hundreds of records does not cost more than all other tasks. The latest
 * of them say how things stand.
 */
const MOST_PARTS = 100;

/**
 * Reads the records that could be related: notes, tasks that something points at, and those of their parts
 * that search found.
 */
export function readCandidates(
  reader: Reader,
  subject: Subject,
  look: Look,
): { surroundings: Corpus; problems: Problem[] } {
  const { tasks } = reader.tasks();
  const { records, problems: broken } = reader.notes();
  const notes = records.map((record) => record.value).filter(isCurrent);
  const labelCounts = countLabels([...tasks, ...notes]);
  const labelled = tasks.length + notes.length;
  const likeness = likenessOf(subject.id, look.alike);
  const problems = [...broken];
  const candidates = notes.map(fromNote);
  const found = [...likeness.keys(), ...subject.mentions];
  const known = new Set(tasks.map((task) => task.id));
  const promising = [...promiseOf(subject, tasks, likeness, labelCounts)]
    .filter(([id]) => known.has(id))
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1));
  for (const [id] of promising.slice(0, MOST_TASKS)) {
    const wanted = subject.dependsOn.includes(id) ? "all" : found.filter((one) => one.startsWith(`${id}/`));
    candidates.push(...readTask(reader, id, wanted, problems));
  }
  return { surroundings: { candidates, likeness, labelCounts, labelled }, problems };
}

function countLabels(labelled: readonly { labels: readonly string[] }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { labels } of labelled)
    for (const label of new Set(labels)) counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
}

/** The task itself matches its own words best, so the scores of others are measured against its own. */
function likenessOf(id: string, hits: readonly Likeness[]): Map<string, number> {
  const foreign = hits.filter((hit) => hit.task !== id);
  const best = Math.max(...hits.map((hit) => hit.score), 0);
  return new Map(best > 0 ? foreign.map((hit) => [hit.id, hit.score / best]) : []);
}

/** More than any number of search hits adds up to: a link is always followed. */
const LINKED = 1_000;

/** How promising each task is. */
function promiseOf(
  subject: Subject,
  tasks: readonly TaskSummary[],
  likeness: ReadonlyMap<string, number>,
  labelCounts: ReadonlyMap<string, number>,
): Map<string, number> {
  const promise = new Map<string, number>();
  const raise = (id: string, by: number) => promise.set(id, (promise.get(id) ?? 0) + by);
  for (const [id, alike] of likeness) raise(taskOf(id), alike);
  for (const task of tasks) {
    for (const label of task.labels)
      if (subject.labels.includes(label)) raise(task.id, 1 / (labelCounts.get(label) ?? 1));
    if (task.depends_on.includes(subject.id)) raise(task.id, LINKED);
  }
  for (const id of [...subject.dependsOn, ...subject.mentions]) raise(taskOf(id), LINKED);
  promise.delete(subject.id);
  return promise;
}

function readTask(
  reader: Reader,
  id: string,
  wanted: readonly string[] | "all",
  problems: Problem[],
): Candidate[] {
  const read = <K extends Kind>(file: string, act: () => Stored<K>): ValueOf<K>[] => {
    try {
      return [act().value];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // A text may mention a record that never existed or is gone.
      if (error.kind !== "not_found") problems.push({ file, message: error.message, hint: error.hint });
      return [];
    }
  };
  const parts = <K extends Kind>(kind: K) => {
    const found = wanted === "all" ? [] : wanted.map((one) => one.slice(id.length + 1));
    const names =
      wanted === "all"
        ? partsOf(reader, kind, id).slice(-MOST_PARTS)
        : found.filter((name) => name.startsWith(kind.letter)).slice(0, MOST_PARTS);
    return names.flatMap((name) => read(partFile(kind, id, name), () => reader.part(kind, id, name)));
  };
  const [task] = read(taskFile(id), () => reader.task(id));
  if (!task) return [];
  const of = { task: id, labels: task.labels };
  const handoffs = parts(handoff);
  // The latest handoff supersedes the older ones.
  const latest = handoffs.length === 0 ? undefined : `${id}/${partsOf(reader, handoff, id).at(-1)}`;
  const candidates = [
    ...parts(decision).map((value) => fromDecision(value, of)),
    ...parts(finding).map((value) => fromFinding(value, of)),
    ...handoffs.filter((value) => value.id === latest).map((value) => fromHandoff(value, of)),
  ];
  const files = [...reader.touched(id), ...candidates.flatMap((one) => one.files)];
  return [fromTask(task, files), ...candidates];
}

/** The names of a task's parts, oldest first. */
function partsOf(reader: Reader, kind: Kind, task: string): string[] {
  const names = reader.partNames(kind, task).flatMap((name) => /^([A-Z]\d+)\.md$/.exec(name)?.[1] ?? []);
  return names.sort((a, b) => idNumber(a) - idNumber(b));
}

type Of = Pick<Candidate, "task" | "labels">;

const fromDecision = (value: ValueOf<typeof decision>, of: Of) =>
  candidate("decision", value, of, {
    title: value.what,
    detail: value.why,
    files: value.changed,
    texts: [value.what, value.why],
  });

const fromFinding = (value: ValueOf<typeof finding>, of: Of) =>
  candidate("finding", value, of, {
    title: value.text,
    detail: value.resolution || value.fix,
    files: value.file === undefined ? [] : [value.file],
    status: value.status,
    texts: [value.text, value.fix, value.resolution],
  });

const fromHandoff = (value: ValueOf<typeof handoff>, of: Of) =>
  candidate("handoff", value, of, {
    title: value.what,
    detail: value.next,
    files: value.changed,
    texts: [value.what, value.blocker, value.next],
  });

const fromTask = (value: Task, files: string[]) =>
  candidate(
    "task",
    value,
    { task: value.id, labels: value.labels },
    {
      title: value.title,
      detail: value.objective,
      files,
      status: value.status,
      dependsOn: value.depends_on,
      texts: [value.title, value.objective, value.plan, value.acceptance, value.notes, ...value.next],
    },
  );

const fromNote = (value: Note) =>
  candidate(
    "note",
    value,
    { task: undefined, labels: value.labels },
    {
      title: value.title,
      detail: value.text || value.why,
      files: value.files,
      texts: [value.title, value.text, value.why],
      efforts: value.kind === "decision" ? value.labels : [],
    },
  );

interface Said extends Pick<Candidate, "title" | "detail" | "files"> {
  texts: readonly string[];
  status?: string;
  dependsOn?: readonly string[];
  efforts?: readonly string[];
}

function candidate(
  kind: Candidate["kind"],
  { id, updated }: { id: string; updated: string },
  of: Of,
  { texts, files, status, dependsOn = [], efforts = [], ...said }: Said,
): Candidate {
  const text = texts.join("\n");
  return {
    ...said,
    ...of,
    id,
    kind,
    updated,
    text,
    status,
    dependsOn,
    efforts,
    mentions: mentionsIn(text),
    files: [...new Set(files.map(normalPath))],
  };
}
