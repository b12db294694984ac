import { bytesIfReadable, bytesOf, jsonIfReadable, namesIfPresent } from "../files/read.ts";
import { pathIn } from "../model/event-line.ts";
import type { EventsWanted, LoggedEvent } from "../ports/ports.ts";
import type { Journal } from "./journal.ts";
import { type Home, journalDir, stagingDir } from "./layout.ts";

/** The latest events of every clone, oldest first. A torn line is passed over: the record it was about says the same. */
export function readEvents(home: Home, wanted: EventsWanted): LoggedEvent[] {
  // In this order, because a command adds to its log before its journal goes: whoever looks the other way misses both.
  const waiting = undone(home, wanted);
  const logs = `${home.state}/events`;
  const logged = namesIfPresent(logs).flatMap((clone) => latestOf(`${logs}/${clone}`, wanted));
  const known = new Set(waiting.length === 0 ? [] : logged.map((one) => JSON.stringify(one)));
  return [...logged, ...waiting.filter((one) => !known.has(JSON.stringify(one)))]
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
    const events = eventsIn(bytesOf(`${folder}/${month}`), wanted);
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

/**
 * What a command has decided and is writing, or was killed over: its records may be in place, its events are not. A sync
 * brings whole logs of other clones, after the records that they tell of.
 */
function undone(home: Home, wanted: EventsWanted): LoggedEvent[] {
  return namesIfPresent(journalDir(home)).flatMap((name) => {
    const { lines, steps } = jsonIfReadable<Partial<Journal>>(`${journalDir(home)}/${name}`) ?? {};
    const own = typeof lines === "string" ? eventsIn(Buffer.from(lines), wanted) : [];
    const brought = (Array.isArray(steps) ? steps : [])
      .filter(({ path }) => /^events\//.test(path))
      .map(({ staged }) => bytesIfReadable(`${stagingDir(home)}/${staged}`));
    return [...own, ...brought.flatMap((log) => (log ? eventsIn(log, wanted) : []))];
  });
}
