import { Failure } from "../../model/failure.ts";
import { formatTaskId } from "../../model/ids.ts";
import { editRecord, type Kind, type Stored } from "../../model/record.ts";
import { kindOfPath, recordOfPath } from "../../model/records/kind-of-path.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Comparison, Divergence, Merged, MergedText } from "../../ports/state-exchange.ts";
import { type Clash, mergeLogs, mergeRecord } from "./merge-record.ts";

/** A record that only a human can merge. */
export interface Conflict {
  record: string;
  reason: "both_changed" | "id_taken_twice" | "unreadable";
  paths: string[];
  clashes: Clash[];
}

/** The records for which somebody has chosen a side. */
export interface Choice {
  ours: ReadonlySet<string>;
  theirs: ReadonlySet<string>;
}

export interface Judgement {
  merged: Merged;
  conflicts: Conflict[];
  /** The choices that settled something. */
  settled: string[];
  /** Records of ours whose ids theirs also use; ours get new ids before theirs are put in place. */
  twice: string[];
}

/** Decides about everything on which the two sides differ. Nothing is settled by guessing. */
export function judge(reader: Reader, comparison: Comparison, choice: Choice, at: Situation): Judgement {
  const merged: Merged = { comparison, taken: [], texts: [], replaced: [] };
  const conflicts = new Map<string, Conflict>();
  const settled = new Set<string>();
  const twice: string[] = [];
  const report = (record: string, reason: Conflict["reason"], path: string, clashes: Clash[]) => {
    const known = conflicts.get(record) ?? { record, reason, paths: [], clashes: [] };
    conflicts.set(record, {
      ...known,
      paths: [...known.paths, path],
      clashes: [...known.clashes, ...clashes],
    });
  };
  for (const { task, by } of comparison.takenTwice) {
    const chosen = by === "both" ? chosenFor(task, choice) : by;
    if (by === "both" && chosen) settled.add(task);
    if (chosen === "theirs") merged.replaced.push(task);
    if (chosen) continue;
    twice.push(`tasks/${task}/task.md`);
    merged.replaced.push(task);
  }
  const runs = comparison.diverged.filter((one) => isTakenTwice(reader, one) && one.path.endsWith("/run.md"));
  const isOfRun = (path: string) => runs.some((one) => path.startsWith(one.path.replace(/run\.md$/, "")));
  for (const one of comparison.diverged) {
    const record = recordOfPath(one.path);
    const chosen = chosenFor(record, choice);
    if (chosen) settled.add(record);
    if (chosen === "theirs") merged.taken.push(one.path);
    else if (chosen === "ours") merged.texts.push(...keepOurs(reader, one, at));
    else if (isOfRun(one.path) || isTakenTwice(reader, one)) {
      if (isTakenTwice(reader, one)) twice.push(one.path);
      merged.taken.push(one.path);
    } else if (/^tasks\/T\d+\/receipt\.md$/.test(one.path) && one.base === undefined)
      merged.taken.push(one.path);
    else {
      const result = bringTogether(reader, one);
      if ("conflict" in result) report(record, result.conflict, one.path, result.clashes);
      else if (result.text.text !== result.text.before) merged.texts.push(result.text);
    }
  }
  return { merged, conflicts: [...conflicts.values()], settled: [...settled], twice };
}

/**
 * Records that two clones may have created under one id. Approvals and unlocks are never renumbered, because
 * a human may have signed their id.
 */
const NUMBERED =
  /^(?:tasks\/T\d+\/(?:(?:decisions|evidence|findings|reviews|handoffs)\/[A-Z]\d+|runs\/R\d+\/run)|notes\/N\d+)\.md$/;

function isTakenTwice(reader: Reader, { path, ours, theirs, fresh }: Divergence): boolean {
  if (!NUMBERED.test(path) || ours === undefined || theirs === undefined || fresh === false) return false;
  const kind = kindOfPath(path);
  const [a, b] = [ours, theirs].map((text) => kind && parsed(reader, kind, path, text));
  if (!a || !b || isRunning(a)) return false;
  return fresh === true || madeAs(a) !== madeAs(b);
}

/** A running agent knows itself by this id, so its run cannot be renumbered. */
const isRunning = ({ value }: Stored<Kind>) => {
  const { status, attempts } = value as { status?: unknown; attempts?: unknown[] };
  return status === "running" && (attempts?.length ?? 0) > 0;
};

function chosenFor(record: string, choice: Choice): "ours" | "theirs" | undefined {
  return choice.ours.has(record) ? "ours" : choice.theirs.has(record) ? "theirs" : undefined;
}

type Together = { text: MergedText } | { conflict: Conflict["reason"]; clashes: Clash[] };

function bringTogether(reader: Reader, one: Divergence): Together {
  const { path, ours, theirs } = one;
  if (ours === undefined || theirs === undefined) return { conflict: "both_changed", clashes: [] };
  const entry = { path, before: ours, about: "what two clones changed, together" };
  if (path.startsWith("events/"))
    return { text: { ...entry, record: undefined, rev: 0, text: mergeLogs(ours, theirs) } };
  const kind = kindOfPath(path);
  if (!kind) return { conflict: "both_changed", clashes: [] };
  const [a, b] = [parsed(reader, kind, path, ours), parsed(reader, kind, path, theirs)];
  const base = one.base === undefined ? undefined : parsed(reader, kind, path, one.base);
  if (!a || !b || (one.base !== undefined && !base)) return { conflict: "unreadable", clashes: [] };
  const result = mergeRecord(kind, { base, ours: a, theirs: b });
  if ("clashes" in result)
    return {
      conflict: base || madeAs(a) === madeAs(b) ? "both_changed" : "id_taken_twice",
      clashes: result.clashes,
    };
  return { text: { ...entry, record: recordOfPath(path), rev: result.rev, text: result.text } };
}

/** Two records differ in when or by whom they were created; a record that was merely changed does not. */
function madeAs({ value }: Stored<Kind>): string {
  const { created, actor } = value as { created?: unknown; actor?: unknown };
  return `${created} ${actor}`;
}

/** Keeps ours with a rev above both, so that nobody takes it for an older version. */
function keepOurs(reader: Reader, { path, ours, theirs }: Divergence, at: Situation): MergedText[] {
  const kind = kindOfPath(path);
  const [a, b] = [ours, theirs].map((text) => kind && text !== undefined && parsed(reader, kind, path, text));
  if (!kind || !a || !b || ours === undefined) return [];
  const revs = [a, b].map((one) => Number((one.value as { rev?: unknown }).rev));
  const rev = Math.max(...revs) + 1;
  const text = editRecord(kind, a, { rev, updated: at.now } as never);
  return [{ path, record: recordOfPath(path), rev, before: ours, text, about: "ours was chosen" }];
}

function parsed(reader: Reader, kind: Kind, path: string, text: string): Stored<Kind> | undefined {
  try {
    return reader.parse(kind, path, text, path);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Expands `T7/F1` to T0007/F1; returns anything else unchanged. */
export function recordName(text: string): string {
  const [, number, part] = /^t0*(\d{1,9})(\/.+)?$/i.exec(text.trim()) ?? [];
  return number ? `${formatTaskId(Number(number))}${part ?? ""}` : text.trim();
}
