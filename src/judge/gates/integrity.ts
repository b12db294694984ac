import { isHuman } from "../../model/actor.ts";
import type { LoggedEvent } from "../../ports/ports.ts";
import type { Breach, ReasonCode } from "./rules.ts";

/** A record as it is now, with the sha256 of its text. */
export interface Judged {
  path: string;
  text: string;
}

/** A record that the log does not bear out: nothing tells of it, it says something else now, or it is gone. */
export interface RecordDoubt {
  path: string;
  /** Its id, such as T0001/E2. */
  record: string;
  why: "unexplained" | "altered" | "missing";
  /** Who wrote it last, as far as the log knows. */
  actor: string | undefined;
}

/** Written once and never changed: a person may adopt an edit of anything else. */
const APPEND_ONLY = /^tasks\/T\d+\/(?:evidence|reviews)\//;
const JUDGED =
  /^tasks\/T\d+\/(?:task|(?:evidence|reviews|findings|decisions|handoffs)\/[A-Z]\d+|runs\/R\d+\/run)\.md$/;

export const isJudgedPath = (path: string) => JUDGED.test(path);
export const isAppendOnly = (path: string) => APPEND_ONLY.test(path);

export type WriteEvent = Pick<
  LoggedEvent,
  "event" | "path" | "text" | "before" | "record" | "actor" | "was" | "voided"
>;

/**
 * Compares in both directions. Every write leaves an event with the beginning of the text's digest and the record's rev;
 * a record has to be what one of its latest events says. Two clones may have given the same rev, and one of them was chosen.
 */
export function doubtsAbout(events: readonly WriteEvent[], records: readonly Judged[]): RecordDoubt[] {
  const told = new Map<string, WriteEvent[]>();
  const moved = new Map(
    events.flatMap((one) => (one.was === undefined ? [] : [[one.was, one.voided ?? []] as const])),
  );
  for (const event of events)
    if (
      event.path !== undefined &&
      isJudgedPath(event.path) &&
      !moved.get(event.path)?.includes(event.text ?? "")
    )
      told.set(event.path, [...(told.get(event.path) ?? []), event]);
  const there = new Set(records.map((one) => one.path));
  const gone = [...told].filter(([path]) => !there.has(path));
  return [
    ...records.filter((one) => isJudgedPath(one.path)).flatMap((one) => doubtAbout(one, told.get(one.path))),
    ...gone.map(
      ([path, all]): RecordDoubt => ({
        path,
        record: idOf(path),
        why: "missing",
        actor: all.at(-1)?.actor,
      }),
    ),
  ];
}

function doubtAbout({ path, text }: Judged, events: readonly WriteEvent[] | undefined): RecordDoubt[] {
  if (!events) return [{ path, record: idOf(path), why: "unexplained", actor: undefined }];
  const last = Math.max(...events.map(revOf));
  const latest = events.filter((one) => revOf(one) === last);
  // Before digests were kept, an event told only that there was a write.
  const isTold = latest.some(
    (one) => one.text === undefined || (one.text !== "" && text.startsWith(one.text)),
  );
  if (isTold && !wasEditedBetween(events)) return [];
  return [{ path, record: idOf(path), why: "altered", actor: latest.at(-1)?.actor }];
}

/** A write that replaced something no event tells of, since a person last said that the record is as it should be. */
function wasEditedBetween(events: readonly WriteEvent[]): boolean {
  const adopted = Math.max(0, ...events.filter(isAdoption).map(revOf));
  return events.some(
    (one) =>
      one.before !== undefined &&
      revOf(one) > adopted &&
      !events.some((other) => revOf(other) < revOf(one) && other.text === one.before),
  );
}

const isAdoption = ({ event, actor }: WriteEvent) => event === "task.edit" && isHuman(actor);

const revOf = ({ record }: WriteEvent) => Number(/@(\d+)$/.exec(record)?.[1] ?? 0);

const idOf = (path: string) =>
  path.replace(
    /^tasks\/(T\d+)\/(?:task|[a-z]+\/([A-Z]\d+)(?:\/run)?)\.md$/,
    (_all, task: string, part?: string) => (part === undefined ? task : `${task}/${part}`),
  );

const CODES = {
  unexplained: "record_unexplained",
  altered: "record_altered",
  missing: "record_missing",
} as const satisfies Record<RecordDoubt["why"], ReasonCode>;

/** What stands in the way until somebody has looked at it. A person's own edit can be adopted, proof cannot. */
export function breachOf({ path, record, why, actor }: RecordDoubt): Breach {
  const message = {
    unexplained: `${record} was not written by pawl: the log has no event for it, so it counts for nothing.`,
    altered: `${record} was changed after ${actor} wrote it, but not by pawl.`,
    missing: `${record} was written by ${actor} and has been deleted.`,
  }[why];
  const adopts = why !== "missing" && !isAppendOnly(path);
  const task = record.replace(/\/.*/, "");
  const command = adopts ? `pawl task edit ${task} --adopt` : "pawl doctor --fix";
  return { code: CODES[why], message, record, command };
}

/** Proof that nobody bears out is none. Findings stay: leaving one out would open a gate. */
export function withoutDoubted<T extends { id: string }>(records: T[], doubts: readonly RecordDoubt[]): T[] {
  if (doubts.length === 0) return records;
  const doubted = new Set(doubts.map((one) => one.record));
  return records.filter((one) => !doubted.has(one.id));
}
