import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../files/durable.ts";
import { textOf } from "../../git/cat-file.ts";
import { eventFile } from "../../model/paths.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Merged } from "../../ports/state-exchange.ts";
import { isEmptyState, placeWhole } from "../bulk-place.ts";
import { eventsOf } from "../events.ts";
import { type Home, stagingDir } from "../layout.ts";
import { setAside } from "../set-aside.ts";
import { forgetTaskListCache } from "../task-list-cache.ts";
import { transact } from "../transaction.ts";
import { beginWith, checkOut } from "./check-out.ts";
import { filesOf } from "./compare.ts";
import type { StateRepository } from "./state-basics.ts";
import { type Listing, readContents, taskFirst, writeContent } from "./state-objects.ts";
import { commitState } from "./state-repository.ts";

/**
 * Puts what came from another clone in place: first the records, then the logs that tell of them, then the history
 * that says so. Killed anywhere, the history still lacks the other side, and the next exchange does the rest. False
 * when a record was written meanwhile, and everything has to be looked at again.
 */
export async function placeIncoming(
  home: Home,
  repo: StateRepository,
  merged: Merged,
  at: Situation,
): Promise<boolean> {
  const { ours, theirs } = merged.comparison;
  if (theirs === undefined || ours === theirs) return true;
  if (ours === undefined && isEmptyState(home)) return placeEverything(home, repo, theirs);
  const { mine, other } = filesOf(merged.comparison);
  for (const task of merged.replaced) if (!(await makeRoom(home, repo, task, mine, ours ?? ""))) return false;
  const isReplaced = (path: string) => merged.replaced.some((task) => path.startsWith(`tasks/${task}/`));
  const replaced = [...other.keys()].filter(isReplaced);
  const paths = [...merged.comparison.incoming, ...merged.taken, ...replaced].sort(taskFirst);
  const scratch: string[] = [];
  try {
    const taken = await effectsFor(home, repo, paths, { mine, other, isReplaced }, scratch);
    const [logs, records] = parted(merged.texts.map(replaceText), (one) => one.path.startsWith("events/"));
    const [theirLogs, theirRecords] = parted(taken, (one) => one.path.startsWith("events/"));
    const effects = [...theirRecords, ...records, ...theirLogs, ...logs];
    if (effects.length > 0) {
      const events = eventsOf("sync", records, at);
      const outcome = transact(home, { effects, events, log: eventFile(home.clone, at.now) });
      if (outcome.state !== "done") return false;
      forgetTaskListCache(home);
    }
  } finally {
    for (const path of scratch) rmSync(path, { force: true });
  }
  await commitState(repo, JOINED, theirs);
  return true;
}

const JOINED = "Join the state of another clone";

async function placeEverything(home: Home, repo: StateRepository, theirs: string): Promise<boolean> {
  const folder = scratchPath(home);
  try {
    await checkOut(repo, theirs, folder);
    if (!placeWhole(home, folder, () => beginWith(repo, theirs))) return false;
    forgetTaskListCache(home);
    await commitState(repo, JOINED, theirs);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeRoom(
  home: Home,
  repo: StateRepository,
  task: string,
  mine: Listing,
  ours: string,
): Promise<boolean> {
  const folder = `tasks/${task}/`;
  const listed = [...mine].filter(([path]) => path.startsWith(folder));
  const contents = await readContents(
    repo,
    listed.map(([, id]) => id),
  );
  const files = new Map(
    listed.map(([path, id]) => [path.slice(folder.length), contents.get(id) ?? Buffer.alloc(0)]),
  );
  return !existsSync(join(home.state, folder)) || setAside(home, task, files, ours.slice(0, 12));
}

function parted<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

interface Sides {
  mine: Listing;
  other: Listing;
  isReplaced(path: string): boolean;
}

const isText = (path: string) => /\.(?:md|jsonl)$/.test(path);

async function effectsFor(
  home: Home,
  repo: StateRepository,
  paths: string[],
  { mine, other, isReplaced }: Sides,
  scratch: string[],
): Promise<Effect[]> {
  const wanted = paths.filter(isText).flatMap((path) => [mine.get(path), other.get(path)]);
  const contents = await readContents(
    repo,
    wanted.flatMap((id) => id ?? []),
  );
  const read = (side: Listing, path: string) =>
    isText(path) ? textOf(contents.get(side.get(path) ?? "")) : undefined;
  return paths.map((path): Effect => {
    const about = { record: path, rev: 0, path, about: "from another clone" };
    const [text, before] = [read(other, path), read(mine, path)];
    const isNew = !mine.has(path) || isReplaced(path);
    const isTask = path.endsWith("/task.md");
    // A task's folder is made in one piece, and only where there is none.
    const inTheWay = isTask && !isReplaced(path) && existsSync(join(home.state, dirname(path)));
    if (text !== undefined && isNew && !inTheWay) return { do: "create", ...about, text };
    if (text !== undefined && before !== undefined) return { do: "replace", ...about, before, text };
    const from = scratchPath(home);
    scratch.push(from);
    writeContent(repo, other.get(path) ?? "", from);
    return { do: "attach", ...about, from, fresh: isNew };
  });
}

function replaceText(one: Merged["texts"][number]): Effect {
  const { path, rev, before, text, about } = one;
  return { do: "replace", record: one.record ?? path, rev, path, before, text, about };
}

function scratchPath(home: Home): string {
  makeFolder(stagingDir(home));
  return join(stagingDir(home), `incoming-${process.pid}-${randomBytes(4).toString("hex")}`);
}
