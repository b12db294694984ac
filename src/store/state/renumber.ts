import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../files/digest.ts";
import { makeFolder } from "../../files/durable.ts";
import { textOf } from "../../git/cat-file.ts";
import { formatTaskId, nextNumber, taskOf } from "../../model/ids.ts";
import { eventFile } from "../../model/paths.ts";
import { recordOfPath } from "../../model/records/kind-of-path.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Comparison, Renumbered } from "../../ports/state-exchange.ts";
import { readEvents } from "../event-log.ts";
import { eventsOf } from "../events.ts";
import { type Home, stagingDir } from "../layout.ts";
import { forgetTaskListCache } from "../task-list-cache.ts";
import { transact } from "../transaction.ts";
import { filesOf } from "./compare.ts";
import type { StateRepository } from "./state-basics.ts";
import { type Listing, readContents, taskFirst, writeContent } from "./state-objects.ts";

/** A record of ours, the files that belong to it, and where they go. */
interface Move extends Renumbered {
  path: string;
  /** What their paths begin with: a folder for tasks and runs. */
  before: string;
  after: string;
}

/**
 * Two clones gave the same id. Theirs is published, so ours gets the next free one: first as a copy under its new id, of
 * which the log says what it was; only then may theirs take its place. Killed in between, the log tells that it was done.
 */
export async function renumber(
  home: Home,
  repo: StateRepository,
  comparison: Comparison,
  paths: readonly string[],
  at: Situation,
): Promise<Renumbered[] | undefined> {
  const { mine, other } = filesOf(comparison);
  const wanted = new Set(paths);
  const told = readEvents(home, { limit: Number.POSITIVE_INFINITY, about: () => true });
  const texts = await readOurs(repo, mine, other);
  const digest = (path: string) => sha256(texts.get(path) ?? "").slice(0, 16);
  const isDone = (path: string) => told.some((one) => one.was === path && one.voided?.includes(digest(path)));
  const moves = planMoves([...wanted].filter((path) => !isDone(path)).sort(), mine, other);
  if (moves.length === 0) return [];
  const scratch: string[] = [];
  try {
    const effects = effectsOf(home, repo, moves, { mine, texts }, scratch);
    // Everything that was told of the old place was about ours, and is told of the new one from here on.
    const events = eventsOf("sync", effects, at).map((event) => {
      const was = oldPath(moves, event.path);
      if (was === undefined || !texts.has(was)) return event;
      const earlier = told.flatMap((one) => (one.path === was ? (one.text ?? []) : []));
      return { ...event, was, voided: [...new Set([digest(was), ...earlier])] };
    });
    const outcome = transact(home, { effects, events, log: eventFile(home.clone, at.now) });
    // Somebody took one of these ids meanwhile, or changed ours: nothing may be replaced before its copy is there.
    if (outcome.state !== "done") return undefined;
    forgetTaskListCache(home);
    return moves.map(({ from, to }) => ({ from, to }));
  } finally {
    for (const path of scratch) rmSync(path, { force: true });
  }
}

/** Our texts that theirs are not the same as: none of the others can speak of a record that only we have. */
async function readOurs(repo: StateRepository, mine: Listing, other: Listing): Promise<Map<string, string>> {
  const own = [...mine].filter(([path, id]) => path.endsWith(".md") && other.get(path) !== id);
  const contents = await readContents(
    repo,
    own.map(([, id]) => id),
  );
  return new Map(
    own.flatMap(([path, id]) => {
      const text = textOf(contents.get(id));
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
}

function planMoves(paths: readonly string[], mine: Listing, other: Listing): Move[] {
  const taken = new Set([...mine.keys(), ...other.keys()]);
  const names = (folder: string) =>
    [...taken].flatMap((path) =>
      path.startsWith(folder) ? (path.slice(folder.length).split("/")[0] ?? []) : [],
    );
  return paths.map((path) => {
    const from = recordOfPath(path);
    const before = path.replace(/(?:task|run)\.md$/, "");
    const [, folder = "", letter = ""] = /^(.*\/)([A-Z])\d+(?:\.md|\/)$/.exec(before) ?? [];
    const number = nextNumber(names(folder), letter);
    const name =
      letter === "T" || letter === "N" ? formatTaskId(number).replace("T", letter) : `${letter}${number}`;
    const after = `${folder}${name}${before.endsWith("/") ? "/" : ".md"}`;
    taken.add(after.endsWith("/") ? `${after}task.md` : after);
    const to = from.includes("/") ? `${taskOf(from)}/${name}` : name;
    return { path, from, to, before, after };
  });
}

const newPath = ({ before, after }: Move, path: string) =>
  path.startsWith(before) ? after + path.slice(before.length) : path;

function oldPath(moves: readonly Move[], path: string): string | undefined {
  const move = moves.find(({ after }) => path === after || (after.endsWith("/") && path.startsWith(after)));
  return move && move.before + path.slice(move.after.length);
}

interface Ours {
  mine: Listing;
  texts: ReadonlyMap<string, string>;
}

function effectsOf(
  home: Home,
  repo: StateRepository,
  moves: readonly Move[],
  { mine, texts }: Ours,
  scratch: string[],
): Effect[] {
  const effects: Effect[] = [];
  for (const [path, id] of [...mine].sort(([a], [b]) => taskFirst(a, b))) {
    const move = moves.find(
      (one) => path === one.path || (one.before.endsWith("/") && path.startsWith(one.before)),
    );
    const text = texts.get(path);
    const renamed = text === undefined ? undefined : withNewIds(text, moves);
    const about = (record: string, words: string) => ({ record, rev: revIn(text ?? ""), about: words });
    if (move && renamed !== undefined) {
      const target = newPath(move, path);
      const words =
        path === move.path ? `was ${move.from} until another clone's ${move.from} arrived` : "moved with it";
      effects.push({ do: "create", ...about(recordOfPath(target), words), path: target, text: renamed });
    } else if (move && !path.endsWith(".md")) {
      makeFolder(stagingDir(home));
      const from = join(stagingDir(home), `renumber-${process.pid}-${randomBytes(4).toString("hex")}`);
      scratch.push(from);
      writeContent(repo, id, from);
      effects.push({ do: "attach", ...about(move.to, "moved with it"), path: newPath(move, path), from });
    } else if (
      !move &&
      text !== undefined &&
      renamed !== undefined &&
      renamed !== text &&
      existsSync(join(home.state, dirname(path)))
    )
      effects.push({
        do: "replace",
        ...about(recordOfPath(path), "names records by their new ids"),
        rev: revIn(text) + 1,
        path,
        before: text,
        text: renamed.replace(/^rev: \d+$/m, `rev: ${revIn(text) + 1}`),
      });
  }
  return effects;
}

/** Branches and folders that are called after an id keep their names. */
function withNewIds(text: string, moves: readonly Move[]): string {
  let result = text;
  for (const { from, to } of moves)
    result = result.replace(new RegExp(`(?<![\\w/.-])${from}(?![\\w-])`, "g"), to);
  return result;
}

const revIn = (text: string) => Number(/^rev: (\d+)$/m.exec(text)?.[1] ?? 1);
