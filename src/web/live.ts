import { followEvents } from "../runtime/follow-events.ts";
import { openRuntime, type Surroundings } from "../runtime/open.ts";
import { lineHtml } from "./ansi.ts";

/** Streams for a page that is looked at; each ends when its reader goes away. */
export interface Live {
  /** Events from now on, or since the one with this id. */
  events(last: string | undefined, signal: AbortSignal): AsyncIterable<string>;
  /** An agent's output from its first line, or from after the line with this number. */
  runLog(run: string, last: string | undefined, signal: AbortSignal): AsyncIterable<string>;
}

const KEEP_MS = 20_000;
/** A run writes no events while it works, so pages are told to reload this often while one is open. */
const LOOK_MS = 3_000;
/** How much of a long log is sent at first; `pawl run log` has all of it. */
const MOST_LINES = 2_000;

export function openLive(around: Surroundings): Live {
  return {
    events: (last, signal) => events(around, last, signal),
    runLog: (run, last, signal) => runLog(around, run, last, signal),
  };
}

async function* events(
  around: Surroundings,
  last: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const runtime = openRuntime(around);
  const agents = await runtime.agents();
  yield "retry: 1000\n\n";
  let [kept, looked] = [Date.now(), Date.now()];
  for await (const { lines, cursor } of followEvents(runtime.home, cursorOf(last), signal)) {
    const now = Date.now();
    const id = Buffer.from(JSON.stringify(cursor)).toString("base64url");
    const told = lines.flatMap(shownEvent);
    if (told.length > 0) yield message("change", told, id);
    else if (now - looked >= LOOK_MS && agents.open().length > 0) {
      looked = now;
      yield message("look", [], id);
    } else if (now - kept >= KEEP_MS) yield ": keep\n\n";
    else continue;
    kept = now;
  }
}

/** Ids come back from the browser, so they are untrusted: anything that is not a cursor starts at the end. */
function cursorOf(id: string | undefined): Record<string, number> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(id ?? "", "base64url").toString("utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const entries = Object.entries(value);
    return entries.every(
      ([path, size]) => /^events\/[\w-]+\/[\w.-]+$/.test(path) && Number.isSafeInteger(size) && size >= 0,
    )
      ? Object.fromEntries(entries)
      : undefined;
  } catch {
    return undefined;
  }
}

function shownEvent(line: string): unknown[] {
  try {
    const { event, record, task } = JSON.parse(line) as Record<string, unknown>;
    return [{ event, record, task }];
  } catch {
    return [];
  }
}

async function* runLog(
  around: Surroundings,
  run: string,
  last: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const agents = await openRuntime(around).agents();
  const after = Number(last ?? 0) || 0;
  let [count, kept] = [0, Date.now()];
  for await (const lines of agents.log(run, { raw: false, follow: true })) {
    if (signal.aborted) return;
    const fresh = lines.slice(Math.max(0, after - count)).slice(-MOST_LINES);
    count += lines.length;
    if (fresh.length > 0)
      yield message(
        "lines",
        fresh.map((one) => lineHtml(one).text),
        String(count),
      );
    else if (Date.now() - kept >= KEEP_MS) yield ": keep\n\n";
    else continue;
    kept = Date.now();
  }
  yield message("end", [], String(count));
}

const message = (event: string, data: unknown, id: string) =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
