import { closeSync, type FSWatcher, openSync, readSync, watch } from "node:fs";
import { join } from "node:path";
import { namesIfPresent } from "../files/read.ts";
import { type Cursor, cursorNow } from "../store/event-cursor.ts";
import type { Home } from "../store/layout.ts";

/** Watching may miss something, on network folders above all; this often somebody looks anyway. */
const LOOK_MS = 2_000;

export interface NewEvents {
  /** Whole lines of the event logs, as they were written. */
  lines: string[];
  /** Where to go on after these. */
  cursor: Cursor;
}

/** What is written to the event logs from now on, or since `from`; comes back empty after a while without any. */
export async function* followEvents(
  home: Home,
  from: Cursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<NewEvents> {
  const known: Cursor = { ...(from ?? cursorNow(home)) };
  const bell = openBell(join(home.state, "events"), signal);
  try {
    while (!signal.aborted) {
      const lines = Object.entries(cursorNow(home)).flatMap(([path, size]) =>
        readNew(join(home.state, path), path, size, known),
      );
      yield { lines, cursor: { ...known } };
      await bell.rung();
    }
  } finally {
    bell.close();
  }
}

/** A log that shrank was replaced by a sync: it is read from its end on. */
function readNew(file: string, path: string, size: number, known: Cursor): string[] {
  const start = known[path] ?? 0;
  if (size <= start) {
    known[path] = size;
    return [];
  }
  const part = Buffer.alloc(size - start);
  const fd = openSync(file, "r");
  try {
    readSync(fd, part, 0, part.length, start);
  } finally {
    closeSync(fd);
  }
  // A line that is still being written is read when it is whole.
  const end = part.lastIndexOf("\n") + 1;
  known[path] = start + end;
  return part.subarray(0, end).toString("utf8").split("\n").filter(Boolean);
}

function openBell(folder: string, signal: AbortSignal) {
  let ring: () => void = () => {};
  let isRung = false;
  const hear = () => {
    isRung = true;
    ring();
  };
  const watchers = [folder, ...namesIfPresent(folder).map((name) => join(folder, name))].flatMap((path) =>
    watchIfPossible(path, hear),
  );
  signal.addEventListener("abort", hear);
  return {
    async rung(): Promise<void> {
      if (!isRung && !signal.aborted) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          ring = resolve;
          timer = setTimeout(resolve, LOOK_MS);
        });
        clearTimeout(timer);
      }
      isRung = false;
    },
    close() {
      signal.removeEventListener("abort", hear);
      for (const one of watchers) one.close();
    },
  };
}

function watchIfPossible(path: string, hear: () => void): FSWatcher[] {
  try {
    const watcher = watch(path, { persistent: false }, hear);
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch {
    return [];
  }
}
