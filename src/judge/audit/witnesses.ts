import { isHuman } from "../../model/actor.ts";
import { pathIn } from "../../model/event-line.ts";
import type { LoggedEvent } from "../../ports/ports.ts";

/** A record as it is now. */
export interface Written {
  path: string;
  text: string;
}

export type WriteEvent = Pick<LoggedEvent, "path" | "text" | "record" | "actor" | "time" | "event">;

/**
 * A record that cannot be trusted: no event matches its text, it is gone, or an agent had it created a second
 * time.
 */
export interface Doubt {
  path: string;
  why: "changed" | "missing" | "renewed";
}

/**
 * Every write by pawl leaves an event with a prefix of the text's digest, and pawl never deletes a record. So
 * a record that was added, changed or deleted by hand contradicts its events.
 */
export function doubts(digests: ReadonlyMap<string, string>, events: readonly WriteEvent[]): Doubt[] {
  const seen = new Map<string, WriteEvent[]>();
  for (const one of events) if (isWhole(one)) seen.set(one.path, [...(seen.get(one.path) ?? []), one]);
  const changed = [...digests]
    .filter(([path, digest]) => !seen.get(path)?.some(({ text = "" }) => digest.startsWith(text)))
    .map(([path]) => ({ path, why: "changed" as const }));
  const missing = [...seen.keys()].filter((path) => !digests.has(path));
  const renewed = [...seen].filter(([, told]) => isRenewed(told)).map(([path]) => path);
  return [
    ...changed,
    ...missing.map((path) => ({ path, why: "missing" as const })),
    ...renewed.map((path) => ({ path, why: "renewed" as const })),
  ];
}

/** A line written by something other than pawl may lack any field. */
const isWhole = (one: WriteEvent): one is WriteEvent & { path: string } =>
  [one.path, one.text, one.record, one.actor, one.time].every(
    (part) => typeof part === "string" && part !== "",
  );

/** After a record is deleted, the next command creates it as if for the first time, at rev 1. */
function isRenewed(events: readonly WriteEvent[]): boolean {
  const [, ...later] = events.toSorted((one, other) => (one.time < other.time ? -1 : 1));
  // Two clones may each have created the record; the sync that unites them may write rev 1 again.
  return later.some(
    ({ record, actor, event }) => event !== "sync" && record.endsWith("@1") && !isHuman(actor),
  );
}

/** The events of a log about wanted paths; torn lines are skipped. */
export function eventsIn(text: string, isWanted: (path: string) => boolean): WriteEvent[] {
  return text.split("\n").flatMap((line) => {
    if (!isWanted(pathIn(line))) return [];
    try {
      return [JSON.parse(line) as WriteEvent];
    } catch {
      return [];
    }
  });
}
