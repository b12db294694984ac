import { Failure } from "../../model/failure.ts";
import type { Problem } from "../../model/record.ts";
import { decision, finding, handoff, type Note } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import type { Likeness, Reader, TaskSummary } from "../../ports/ports.ts";
import { mentionsIn } from "./keywords.ts";
import type { Look } from "./look.ts";
import { normalPath } from "./own.ts";
import type { Candidate, Subject, Surroundings } from "./relate.ts";

/** Folders that are opened: enough for every real relative, and few enough to stay fast in a store of thousands. */
const MOST_TASKS = 40;
/** A few tasks with hundreds of records each must not make up for that. */
const MOST_RECORDS = 1_000;

/** Reads the records that could be related: the notes, and the task folders that links, words, files or labels point at. */
export function readCandidates(
  reader: Reader,
  subject: Subject,
  look: Look,
): { surroundings: Surroundings; problems: Problem[] } {
  const { tasks } = reader.tasks();
  const notes = reader.notes();
  const labelCounts = countLabels([...tasks, ...notes.records.map((record) => record.value)]);
  const labelled = tasks.length + notes.records.length;
  const likeness = likenessOf(subject.id, look.alike);
  const problems = [...notes.problems];
  const candidates = notes.records.map((record) => fromNote(record.value));
  const wanted = promising(subject, tasks, look, likeness, labelCounts);
  for (const id of wanted.slice(0, MOST_TASKS)) {
    if (candidates.length - notes.records.length > MOST_RECORDS) break;
    const read = readTask(reader, id);
    candidates.push(...read.candidates);
    problems.push(...read.problems);
  }
  return { surroundings: { candidates, likeness, labelCounts, labelled }, problems };
}

function countLabels(labelled: readonly { labels: readonly string[] }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { labels } of labelled)
    for (const label of new Set(labels)) counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
}

/** The task itself matches its own words best, so that its score is the measure of the others. */
function likenessOf(id: string, hits: readonly Likeness[]): Map<string, number> {
  const foreign = hits.filter((hit) => hit.task !== id);
  const best = Math.max(...hits.map((hit) => hit.score), 0);
  return new Map(best > 0 ? foreign.map((hit) => [hit.id, hit.score / best]) : []);
}

/** Tasks whose folders are worth opening, the most promising first. */
function promising(
  subject: Subject,
  tasks: readonly TaskSummary[],
  look: Look,
  likeness: ReadonlyMap<string, number>,
  labelCounts: ReadonlyMap<string, number>,
): string[] {
  const promise = new Map<string, number>();
  const raise = (id: string | null, by: number) => {
    if (id !== null && id !== subject.id) promise.set(id, (promise.get(id) ?? 0) + by);
  };
  for (const hit of look.alike) raise(hit.task, likeness.get(hit.id) ?? 0);
  for (const task of tasks) {
    for (const label of task.labels)
      if (subject.labels.includes(label)) raise(task.id, 1 / (labelCounts.get(label) ?? 1));
    if (task.depends_on.includes(subject.id)) raise(task.id, LINKED);
  }
  const known = new Set(tasks.map((task) => task.id));
  for (const id of [...subject.dependsOn, ...subject.mentions]) raise(id.split("/")[0] ?? id, LINKED);
  return [...promise]
    .filter(([id]) => known.has(id))
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1))
    .map(([id]) => id);
}

/** More than any number of hits: a link is always followed. */
const LINKED = 1_000;

function readTask(reader: Reader, id: string): { candidates: Candidate[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const parts = (read: { problems: Problem[] }) => problems.push(...read.problems);
  const decisions = reader.parts(decision, id);
  const findings = reader.parts(finding, id);
  const handoffs = reader.parts(handoff, id);
  [decisions, findings, handoffs].forEach(parts);
  let task: Task;
  try {
    task = reader.task(id).value;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    problems.push({ file: `tasks/${id}/task.md`, message: error.message, hint: error.hint });
    return { candidates: [], problems };
  }
  const shared = { task: id, labels: task.labels };
  const candidates = [
    ...decisions.records.map(({ value }) =>
      candidate({
        ...shared,
        kind: "decision",
        value,
        title: value.what,
        detail: value.why,
        files: value.changed,
        texts: [value.what, value.why],
      }),
    ),
    ...findings.records.map(({ value }) =>
      candidate({
        ...shared,
        kind: "finding",
        value,
        title: value.text,
        detail: value.resolution || value.fix,
        files: value.file === undefined ? [] : [value.file],
        status: value.status,
        texts: [value.text, value.fix, value.resolution],
      }),
    ),
    // What an older handoff said has been overtaken by the next one.
    ...handoffs.records.slice(-1).map(({ value }) =>
      candidate({
        ...shared,
        kind: "handoff",
        value,
        title: value.what,
        detail: value.next,
        files: value.changed,
        texts: [value.what, value.blocker, value.next],
      }),
    ),
  ];
  const files = [...reader.touched(id), ...candidates.flatMap((one) => one.files)];
  return { candidates: [fromTask(task, files), ...candidates], problems };
}

function fromTask(value: Task, files: string[]): Candidate {
  return candidate({
    kind: "task",
    task: value.id,
    labels: value.labels,
    value,
    title: value.title,
    detail: value.objective,
    files,
    status: value.status,
    dependsOn: value.depends_on,
    texts: [value.title, value.objective, value.plan, value.acceptance, value.notes, ...value.next],
  });
}

function fromNote(value: Note): Candidate {
  return candidate({
    task: undefined,
    kind: "note",
    value,
    title: value.title,
    detail: value.text,
    files: value.files,
    labels: value.labels,
    texts: [value.title, value.text],
  });
}

interface Parts {
  task: string | undefined;
  kind: Candidate["kind"];
  value: { id: string; updated: string };
  title: string;
  detail: string;
  files: readonly string[];
  labels: readonly string[];
  texts: readonly string[];
  status?: string;
  dependsOn?: readonly string[];
}

function candidate({
  task,
  kind,
  value,
  title,
  detail,
  files,
  labels,
  texts,
  status,
  dependsOn,
}: Parts): Candidate {
  const text = texts.join("\n");
  return {
    id: value.id,
    kind,
    task,
    title,
    detail,
    text,
    labels,
    status,
    updated: value.updated,
    mentions: mentionsIn(text),
    files: [...new Set(files.map(normalPath))],
    dependsOn: dependsOn ?? [],
  };
}
