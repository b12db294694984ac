import { readFileSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent } from "../files/read.ts";
import { pathIn } from "../model/event-line.ts";
import type { EventsWanted, LoggedEvent } from "../ports/ports.ts";
import type { Home } from "./layout.ts";

/** The latest events of every clone, oldest first. A torn line is passed over: the record it was about says the same. */
export function readEvents(home: Home, wanted: EventsWanted): LoggedEvent[] {
  const logs = join(home.state, "events");
  return namesIfPresent(logs)
    .flatMap((clone) => latestOf(join(logs, clone), wanted))
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .slice(-wanted.limit);
}

function latestOf(folder: string, { task, about, limit }: EventsWanted): LoggedEvent[] {
  const found: LoggedEvent[] = [];
  const months = namesIfPresent(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .reverse();
  for (const month of months) {
    const lines = readFileSync(join(folder, month), "utf8").split("\n");
    for (let at = lines.length - 1; at >= 0 && found.length < limit; at--) {
      const line = lines[at] ?? "";
      // A cheap look before the dear one; the event itself decides.
      if (line === "" || (task !== undefined && !line.includes(task))) continue;
      if (about && !about(pathIn(line))) continue;
      const event = parse(line);
      if (event && (task === undefined || event.task === task)) found.unshift(event);
    }
    if (found.length >= limit) break;
  }
  return found;
}

function parse(line: string): LoggedEvent | undefined {
  try {
    const event = JSON.parse(line) as LoggedEvent;
    return typeof event.time === "string" && typeof event.event === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
