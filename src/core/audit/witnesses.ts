import type { LoggedEvent } from "../ports.ts";

/** A record as it is now. */
export interface Written {
  path: string;
  text: string;
}

export type WriteEvent = Pick<LoggedEvent, "path" | "text">;

const EVENT_LOG = /^events\/[^/]+\/[^/]+\.jsonl$/;

export const isEventLog = (path: string) => EVENT_LOG.test(path);

/**
 * The paths of records that are not as any event says they were written. Every write of ours leaves an event with the
 * beginning of the text's digest; a record that was put there or changed by hand has none.
 */
export function unwitnessed(digests: ReadonlyMap<string, string>, events: readonly WriteEvent[]): string[] {
  const seen = new Map<string, string[]>();
  for (const { path, text } of events)
    if (path !== undefined && text) seen.set(path, [...(seen.get(path) ?? []), text]);
  return [...digests]
    .filter(([path, digest]) => !seen.get(path)?.some((one) => digest.startsWith(one)))
    .map(([path]) => path);
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

/** What the line of a log is about: a cheap look before the dear one. */
export const pathIn = (line: string) => /"path":"([^"]*)"/.exec(line)?.[1] ?? "";
