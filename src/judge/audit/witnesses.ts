import { isHuman } from "../../model/actor.ts";
import { pathIn } from "../../model/event-line.ts";
import type { LoggedEvent } from "../../ports/ports.ts";

/** A record as it is now. */
export interface Written {
  path: string;
  text: string;
}

export type WriteEvent = Pick<LoggedEvent, "path" | "text" | "record" | "actor" | "time" | "event">;

/** A record that cannot be believed: no event has its text, it is gone, or an agent had it made a second time. */
export interface Doubt {
  path: string;
  why: "changed" | "missing" | "renewed";
}

/**
 * Every write of ours leaves an event with the beginning of the text's digest, and no record is ever taken away. So a
 * record that was put there, changed or removed by hand differs from what the events say.
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

/** A line that somebody else wrote may lack anything. */
const isWhole = (one: WriteEvent): one is WriteEvent & { path: string } =>
  [one.path, one.text, one.record, one.actor, one.time].every(
    (part) => typeof part === "string" && part !== "",
  );

/** Whoever removes a record has the next command make it as if for the first time. */
function isRenewed(events: readonly WriteEvent[]): boolean {
  const [, ...later] = events.toSorted((one, other) => (one.time < other.time ? -1 : 1));
  // Two clones may each have begun with one of their own, which sync makes one.
  return later.some(
    ({ record, actor, event }) => event !== "sync" && record.endsWith("@1") && !isHuman(actor),
  );
}

/** The events of a log that are about wanted paths; a torn line says nothing. */
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
