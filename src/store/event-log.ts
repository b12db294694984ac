import { join } from "node:path";
import { bytesOf, jsonIfReadable, namesIfPresent } from "../files/read.ts";
import { pathIn } from "../model/event-line.ts";
import type { EventsWanted, LoggedEvent } from "../ports/ports.ts";
import { type Home, journalDir } from "./layout.ts";

/** The latest events of every clone, oldest first. A torn line is passed over: the record it was about says the same. */
export function readEvents(home: Home, wanted: EventsWanted): LoggedEvent[] {
  const logs = join(home.state, "events");
  return [
    ...namesIfPresent(logs).flatMap((clone) => latestOf(join(logs, clone), wanted)),
    ...undone(home, wanted),
  ]
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .slice(-wanted.limit);
}

function latestOf(folder: string, wanted: EventsWanted): LoggedEvent[] {
  const found: LoggedEvent[] = [];
  const months = namesIfPresent(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .reverse();
  for (const month of months) {
    const events = eventsIn(bytesOf(join(folder, month)), wanted);
    found.unshift(...events.slice(-(wanted.limit - found.length)));
    if (found.length >= wanted.limit) break;
  }
  return found;
}

/** Of one task: only its lines are looked for, because a log holds those of all. */
function eventsIn(log: Buffer, wanted: EventsWanted): LoggedEvent[] {
  const lines = wanted.task === undefined ? log.toString("utf8").split("\n") : linesOf(log, wanted.task);
  return lines.flatMap((line) => {
    if (line === "" || (wanted.about && !wanted.about(pathIn(line)))) return [];
    const event = parse(line);
    return event && (wanted.task === undefined || event.task === wanted.task) ? [event] : [];
  });
}

const NEWLINE = 10;

function linesOf(log: Buffer, task: string): string[] {
  const lines: string[] = [];
  for (let at = log.indexOf(task); at >= 0; ) {
    const begin = log.lastIndexOf(NEWLINE, at) + 1;
    const end = log.indexOf(NEWLINE, at);
    lines.push(log.toString("utf8", begin, end < 0 ? log.length : end));
    at = end < 0 ? -1 : log.indexOf(task, end);
  }
  return lines;
}

function parse(line: string): LoggedEvent | undefined {
  try {
    const event = JSON.parse(line) as LoggedEvent;
    return typeof event.time === "string" && typeof event.event === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}

/** What a killed command had decided and the next write completes: its records may be in place, its events are not. */
function undone(home: Home, wanted: EventsWanted): LoggedEvent[] {
  return namesIfPresent(journalDir(home)).flatMap((name) => {
    const lines = jsonIfReadable<{ lines?: unknown }>(join(journalDir(home), name))?.lines;
    return typeof lines === "string" ? eventsIn(Buffer.from(lines), wanted) : [];
  });
}
