import { isHuman } from "../../model/actor.ts";
import { idOf } from "../../model/paths.ts";
import type { LoggedEvent } from "../../ports/ports.ts";
import type { Breach, ReasonCode } from "./rules.ts";

/** A record as it is now; `text` is the sha256 of its text. */
export interface Judged {
  path: string;
  text: string;
}

/**
 * A record that the log does not confirm: it has no event, its text differs, or it is gone; or all records,
 * if their branch was reset.
 */
export interface RecordDoubt {
  path: string;
  /** Its id, such as T0001/E2. */
  record: string;
  why: "unexplained" | "altered" | "missing" | "taken back";
  /** Who wrote it last, as far as the log knows. */
  actor: string | undefined;
}

/** Written once and never changed. A person may adopt an edit of any other record. */
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
 * Compares records with events in both directions. Each event has the record's rev and a prefix of its text's
 * digest, and a record has to match one of its latest events. Two clones may have written the same rev; then
 * sync kept one of them.
 */
export function doubtsAbout(events: readonly WriteEvent[], records: readonly Judged[]): RecordDoubt[] {
  const told = new Map<string, WriteEvent[]>();
  const moved = new Map<string, string[]>();
  for (const { was, voided = [] } of events)
    if (was !== undefined) moved.set(was, [...(moved.get(was) ?? []), ...voided]);
  for (const event of events)
    if (
      event.path !== undefined &&
      isJudgedPath(event.path) &&
      !moved.get(event.path)?.includes(event.text ?? "")
    )
      told.set(event.path, [...(told.get(event.path) ?? []), event]);
  // A renumbered record also stays at its old path until the other clone's record replaces it.
  const isLeaving = ({ path, text }: Judged) =>
    !told.has(path) && (moved.get(path) ?? []).some((one) => one !== "" && text.startsWith(one));
  const there = new Set(records.map((one) => one.path));
  const gone = [...told].filter(([path]) => !there.has(path));
  return [
    ...records
      .filter((one) => isJudgedPath(one.path) && !isLeaving(one))
      .flatMap((one) => doubtAbout(one, told.get(one.path))),
    ...gone.map(
      ([path, all]): RecordDoubt => ({
        path,
        record: idOf(path) ?? path,
        why: "missing",
        actor: all.at(-1)?.actor,
      }),
    ),
  ];
}

function doubtAbout({ path, text }: Judged, events: readonly WriteEvent[] | undefined): RecordDoubt[] {
  if (!events) return [{ path, record: idOf(path) ?? path, why: "unexplained", actor: undefined }];
  const last = Math.max(...events.map(revOf));
  const latest = events.filter((one) => revOf(one) === last);
  // Older events have no digest: they only show that there was a write.
  const isTold = latest.some(
    (one) => one.text === undefined || (one.text !== "" && text.startsWith(one.text)),
  );
  if (isTold && !wasEditedBetween(events)) return [];
  return [{ path, record: idOf(path) ?? path, why: "altered", actor: latest.at(-1)?.actor }];
}

/** Whether a write replaced a text that no event knows, since a person last adopted the record. */
function wasEditedBetween(events: readonly WriteEvent[]): boolean {
  const adopted = Math.max(0, ...events.filter(isAdoption).map(revOf));
  return events.some(
    (one) =>
      one.before !== undefined &&
      revOf(one) > adopted &&
      !events.some((other) => isBefore(other, one) && other.text === one.before),
  );
}

/** If two clones made the same change, the event of the sync that unites them has the same rev as theirs. */
const isBefore = (other: WriteEvent, one: WriteEvent) =>
  revOf(other) < revOf(one) || (one.event === "sync" && other !== one && revOf(other) === revOf(one));

const isAdoption = ({ event, actor }: WriteEvent) => event === "task.edit" && isHuman(actor);

const revOf = ({ record }: WriteEvent) => Number(/@(\d+)$/.exec(record)?.[1] ?? 0);

const CODES = {
  unexplained: "record_unexplained",
  altered: "record_altered",
  missing: "record_missing",
  "taken back": "records_taken_back",
} as const satisfies Record<RecordDoubt["why"], ReasonCode>;

/**
 * What blocks the gate until somebody has looked. A person can adopt an edit, but not changed evidence or
 * reviews.
 */
export function breachOf({ path, record, why, actor }: RecordDoubt): Breach {
  const message = {
    unexplained: `${record} was not written by pawl: the log has no event for it, so it counts for nothing.`,
    altered: `${record} was changed after ${actor} wrote it, but not by pawl.`,
    missing: `${record} was written by ${actor} and has been deleted.`,
    "taken back":
      "The branch of the records was taken back with git, so records and what told of them are gone.",
  }[why];
  const adopts = why !== "missing" && why !== "taken back" && !isAppendOnly(path);
  const task = record.replace(/\/.*/, "");
  const command = adopts ? `pawl task edit ${task} --adopt` : "pawl doctor --fix";
  return { code: CODES[why], message, record, command };
}

/**
 * Evidence, reviews and handoffs that the log does not confirm count for nothing. Findings stay: leaving one
 * out would open a gate.
 */
export function withoutDoubted<T extends { id: string }>(records: T[], doubts: readonly RecordDoubt[]): T[] {
  if (doubts.length === 0) return records;
  const doubted = new Set(doubts.map((one) => one.record));
  return records.filter((one) => !doubted.has(one.id));
}
