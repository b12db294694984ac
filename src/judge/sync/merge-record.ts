import { Failure } from "../../model/failure.ts";
import { cameLater } from "../../model/protection.ts";
import { type ChangesOf, editRecord, type Kind, type Stored } from "../../model/record.ts";
import { finding, note, touched } from "../../model/records/parts.ts";
import { type RepositoryRecord, repository, run } from "../../model/records/run.ts";
import { task } from "../../model/records/task.ts";

export interface ThreeWays<K extends Kind> {
  base: Stored<K> | undefined;
  ours: Stored<K>;
  theirs: Stored<K>;
}

/** A field that both sides changed to different values. */
export interface Clash {
  field: string;
  ours: unknown;
  theirs: unknown;
}

export type MergeResult = { text: string; rev: number } | { clashes: Clash[] };

/**
 * Records that people and agents edit. The others say what happened, and a mix of two would say what never
 * did.
 */
const MERGEABLE: readonly Kind[] = [task, finding, note, repository, touched];

/** Lists whose order means nothing, so additions on both sides do not conflict. */
const SETS = new Set(["labels", "depends_on", "protects"]);

/** Lists in which each clone has only entries of its own, so what one removed stays removed. */
const OF_CLONES = new Set(["begun", "guarded", "trusted"]);

const BASELINE = "baseline";

type Values = Record<string, unknown>;

/**
 * Merges field by field, if no field was changed on both sides. Text outside our fields, such as a comment,
 * is taken from one side as it is, so the other side must not have changed it.
 */
export function mergeRecord<K extends Kind>(kind: K, ways: ThreeWays<K>): MergeResult {
  const { base, ours, theirs } = ways;
  const [a, b] = [ours.value as Values, theirs.value as Values];
  if (!base) return sameButForItsMaking(kind, ours, theirs) ?? { clashes: clashesOf(kind, undefined, a, b) };
  const agreed = saidTwice(ours, theirs);
  if (agreed) return agreed;
  const before = base.value as Values;
  const clashes = clashesOf(kind, before, a, b);
  const isMergeable = MERGEABLE.includes(kind) || isHandOver(kind, before, a) || isHandOver(kind, before, b);
  if (clashes.length > 0 || !isMergeable)
    return { clashes: clashes.length > 0 ? clashes : [{ field: "rev", ours: a.rev, theirs: b.rev }] };
  const rev = Math.max(Number(a.rev), Number(b.rev)) + 1;
  const updated = String(a.updated) > String(b.updated) ? a.updated : b.updated;
  const merged: Values = { rev, updated };
  for (const name of namesOf(kind)) merged[name] ??= mergedValue(name, before[name], a[name], b[name]);
  if (kind === (repository as Kind)) merged[BASELINE] = oneBaseline(a, b);
  const text = placed(kind, base, theirs, ours, merged) ?? placed(kind, base, ours, theirs, merged);
  return text === undefined
    ? { clashes: [{ field: "text outside of the fields", ours: "changed", theirs: "changed" }] }
    : { text, rev };
}

/**
 * Another clone took the task over and wrote only that, which does not conflict with anything the first one
 * wrote.
 */
function isHandOver(kind: Kind, before: Values, side: Values): boolean {
  if (kind !== (run as Kind) || before.ended !== undefined || side.ended !== "kept") return false;
  const handed = ["ended", "reason", "rev", "updated"];
  return namesOf(kind).every((name) => handed.includes(name) || same(before[name], side[name]));
}

/** Both sides wrote the same, such as that a remote has it: the earlier text wins on both sides. */
function saidTwice(ours: Stored<Kind>, theirs: Stored<Kind>): { text: string; rev: number } | undefined {
  const [a, b] = [ours.value as Values, theirs.value as Values];
  const [mine, their] = [String(a.updated), String(b.updated)];
  if (withoutTime(ours.text) !== withoutTime(theirs.text)) return undefined;
  return { text: mine < their ? ours.text : theirs.text, rev: Number(a.rev) };
}

const withoutTime = (text: string) => text.replace(/^updated: .*$/m, "");
const namesOf = (kind: Kind) => [...Object.keys(kind.fields), ...Object.keys(kind.sections)];
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function clashesOf(kind: Kind, before: Values | undefined, a: Values, b: Values): Clash[] {
  return namesOf(kind)
    .filter((name) => name !== "rev" && name !== "updated" && !same(a[name], b[name]))
    .filter((name) => !before || (!same(before[name], a[name]) && !same(before[name], b[name])))
    .filter((name) => !before || !areAdditions(name, before[name], a[name], b[name]))
    .map((field) => ({ field, ours: a[field], theirs: b[field] }));
}

function areAdditions(name: string, before: unknown, a: unknown, b: unknown): boolean {
  if (!SETS.has(name)) return OF_CLONES.has(name) || name === BASELINE;
  const [first, ...others] = [before, a, b].map((one) => ((one ?? []) as unknown[]).map(print));
  return others.every((list) => first?.every((item) => list.includes(item)));
}

function mergedValue(name: string, before: unknown, a: unknown, b: unknown): unknown {
  if (same(a, b) || same(before, b)) return a;
  if (same(before, a)) return b;
  if (!SETS.has(name) && !OF_CLONES.has(name)) return a;
  return setMerge((before ?? []) as unknown[], a as unknown[], b as unknown[]);
}

/**
 * A branch has one baseline, the one that was published first. A clone that joins later cannot add its own,
 * nor one for a branch that was created while its name was protected.
 */
function oneBaseline(a: Values, b: Values): RepositoryRecord["baseline"] {
  const [ours, theirs] = [a, b] as unknown as [RepositoryRecord, RepositoryRecord];
  const isKnown = (ref: string) => theirs.baseline.some((one) => one.ref === ref);
  return [...theirs.baseline, ...ours.baseline.filter(({ ref }) => !isKnown(ref) && !cameLater(ref, theirs))];
}

/** What either side has, without what the other one removed. */
function setMerge(before: readonly unknown[], a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const [known, left, right] = [before, a, b].map((list) => new Set(list.map(print)));
  const isOut = (item: string) => known?.has(item) && !(left?.has(item) && right?.has(item));
  return union(a, b).filter((item) => !isOut(print(item)));
}

const print = (item: unknown) => JSON.stringify(item);

function union(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const known = new Set(a.map(print));
  return [...a, ...b.filter((item) => !known.has(print(item)))];
}

/** Puts the merged values into one side's text, if the other side changed nothing but fields. */
function placed<K extends Kind>(
  kind: K,
  base: Stored<K>,
  fieldsOnly: Stored<K>,
  keeper: Stored<K>,
  merged: Values,
): string | undefined {
  try {
    if (editRecord(kind, base, differing(base, fieldsOnly.value as Values)) !== fieldsOnly.text)
      return undefined;
    return editRecord(kind, keeper, differing(keeper, merged));
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function differing<K extends Kind>(stored: Stored<K>, wanted: Values): ChangesOf<K> {
  const current = stored.value as Values;
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => !same(current[name], value)),
  ) as ChangesOf<K>;
}

const MAKING = ["rev", "actor", "created", "updated", "repo", "branch", "commit"];

/** Lists to which every clone adds its own entries. */
const GROWING = [BASELINE, "begun", "protects", "guarded", "trusted"];

/** Two machines that each recorded the same repository have said the same thing twice. */
function sameButForItsMaking<K extends Kind>(
  kind: K,
  ours: Stored<K>,
  theirs: Stored<K>,
): { text: string; rev: number } | undefined {
  const [a, b] = [ours.value as Values, theirs.value as Values];
  const names = namesOf(kind).filter((name) => !MAKING.includes(name) && !GROWING.includes(name));
  if (kind !== (repository as Kind) || !names.every((name) => same(a[name], b[name]))) return undefined;
  const first = [ours, theirs].sort((one, other) => (one.text < other.text ? -1 : 1));
  const earlier =
    String(a.created) === String(b.created)
      ? first[0]
      : String(a.created) < String(b.created)
        ? ours
        : theirs;
  const [kept, other] = earlier === theirs ? [theirs, ours] : [ours, theirs];
  const grown = GROWING.filter((name) => !same(a[name], b[name]));
  if (grown.length === 0) return { text: kept.text, rev: Number((kept.value as Values).rev) };
  // Both clones' entries are true, so they are united. Only the baseline is not: the branch was guarded
  // before one of them joined.
  const rev = Math.max(Number(a.rev), Number(b.rev)) + 1;
  const lists = grown.map((name) => {
    if (name === BASELINE) return [name, oneBaseline(a, b)];
    const [mine, their] = [kept, other].map((one) => (one.value as Values)[name] as unknown[]);
    return [name, union(mine ?? [], their ?? [])];
  });
  return { text: editRecord(kind, kept, { ...Object.fromEntries(lists), rev }), rev };
}

/** An event log only grows, so every line of either side belongs to it. */
export function mergeLogs(ours: string, theirs: string): string {
  if (ours.startsWith(theirs)) return ours;
  if (theirs.startsWith(ours)) return theirs;
  const known = new Set(ours.split("\n"));
  const missing = theirs.split("\n").filter((line) => line !== "" && !known.has(line));
  return ours + missing.map((line) => `\n${line}\n`).join("");
}
