import { statSync } from "node:fs";
import { join } from "node:path";
import { keepIfPossible } from "../files/cache.ts";
import { jsonIfReadable } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import type { Problem, Stored } from "../model/record.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Home } from "./layout.ts";
import { isSame } from "./task-list-cache.ts";

/** A run as its file said when it was last read, and what that file was. */
type Row = [path: string, ctimeMs: number, size: number, ino: number, value: Run];

/** Reading a few again is cheaper than writing all down each time. */
const SAVE_AFTER = 16;
/** Files this young are read again next time: within one tick of the clock a rewrite can look like the original. */
const SETTLED_MS = 2_000;
const MOST_KEPT = 2_000;

const cacheFile = (home: Home) => join(home.local, "runs.cache");

/**
 * Many runs, to be shown and never to be decided on: hardly any of them changes any more, and parsing a hundred takes as
 * long as starting Node. What was made of a file is kept beside its ctime, size and inode.
 */
export function listRuns(
  home: Home,
  paths: readonly string[],
  parse: (path: string) => Stored<typeof run>,
  now: number,
): { runs: Run[]; problems: Problem[] } {
  const known = new Map(readRows(home).map((row) => [row[0], row]));
  const listed: Row[] = [];
  const problems: Problem[] = [];
  let missed = 0;
  for (const path of paths)
    try {
      const stat = statSync(join(home.state, path));
      const before = known.get(path);
      const isKnown = before !== undefined && isSame(before, stat);
      listed.push(isKnown ? before : [path, stat.ctimeMs, stat.size, stat.ino, parse(path).value]);
      if (!isKnown) missed++;
    } catch (error) {
      const broken = error instanceof Failure ? error : unreadable(home, path, error);
      problems.push({ file: path, message: broken.message, hint: broken.hint });
    }
  if (missed > SAVE_AFTER) keep(home, listed, known, now);
  return { runs: listed.map((row) => row[4]), problems };
}

/** Anything else than a file that the system does not show is ours to explain. */
function unreadable(home: Home, path: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return new Failure("unreadable", "broken_record", `${join(home.shown, path)} cannot be read (${code}).`);
}

/** Another pawl knows other fields. */
const SCHEMA = Object.keys(run.fields).join(" ");

function readRows(home: Home): Row[] {
  const found = jsonIfReadable<{ schema: string; rows: Row[] }>(cacheFile(home));
  return found?.schema === SCHEMA && Array.isArray(found.rows) ? found.rows : [];
}

function keep(home: Home, listed: readonly Row[], known: ReadonlyMap<string, Row>, now: number): void {
  const settled = listed.filter((row) => now - row[1] > SETTLED_MS);
  const fresh = new Set(listed.map((row) => row[0]));
  const others = [...known.values()].filter((row) => !fresh.has(row[0]));
  const rows = [...settled, ...others].slice(0, MOST_KEPT);
  keepIfPossible(cacheFile(home), JSON.stringify({ schema: SCHEMA, rows }));
}
