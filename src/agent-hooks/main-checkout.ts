import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonIfReadable, namesIfReadable } from "../files/read.ts";
import { trackedPaths } from "../git/quick-clean.ts";
import { noteStrays, readStatus } from "../git/strays.ts";
import type { Environment } from "../model/environment.ts";
import { sessionFile } from "../model/naming.ts";
import { firstFew } from "../model/text.ts";
import type { Spot } from "./facts.ts";

/**
 * What a session has seen of the main checkout. An agent's shell can write anywhere, and no hook can tell beforehand what
 * a program will do; so it is looked at afterwards, and what was not there when the session began is told.
 */
interface Seen {
  /** Of names, sizes and times: as long as it is the same, nothing has changed and git is not asked. */
  print: string;
  /** Uncommitted files that were there when the session began, or that it was told of, as they were then. */
  known: string[];
  lookedAt: number;
}

/** Where a quick look is not possible, git is asked no more often than this. */
const SELDOM_MS = 20_000;

export interface Watched {
  spot: Spot;
  session: string;
  env: Environment;
  now: number;
}

/** The first look of a session: whatever is changed by now is none of its doing. */
export async function beginWatching(around: Watched): Promise<void> {
  const root = mainRootOf(around.spot);
  if (root === undefined || readSeen(around) !== undefined) return;
  await look(around, root, []);
}

/** Files of the main checkout that changed since the session last looked; they are noted, too. */
export async function newStrays(around: Watched): Promise<string[]> {
  const root = mainRootOf(around.spot);
  if (root === undefined) return [];
  const seen = readSeen(around);
  if (seen === undefined) {
    await look(around, root, []);
    return [];
  }
  const print = printOf(root, around.spot.commonDir);
  if (print === undefined ? around.now - seen.lookedAt < SELDOM_MS : print === seen.print) return [];
  const fresh = await withoutScratch(await look(around, root, seen.known), root, around.env);
  if (fresh.length > 0) noteStrays(around.spot.commonDir, around.session, fresh);
  return fresh;
}

/** New files in places that the policy names for scratch files are where they belong. */
async function withoutScratch(files: string[], root: string, env: Environment): Promise<string[]> {
  if (files.length === 0) return files;
  const { askScratchPlaces, isInPlaces } = await import("./ask.ts");
  const places = (await askScratchPlaces(root, env)) ?? [];
  return files.filter((file) => !isInPlaces(file, places));
}

/** A main worktree that is bound to a task is where that task is worked on. */
function mainRootOf({ mainRoot, task, root, guarded }: Spot): string | undefined {
  return guarded && !(task !== undefined && root === mainRoot) ? mainRoot : undefined;
}

const fileOf = ({ spot, session }: Watched) =>
  join(spot.commonDir, "pawl", "sessions", `${sessionFile(session)}.main`);

const readSeen = (around: Watched) => jsonIfReadable<Seen>(fileOf(around));

/** Asks git, remembers what it said, and answers with what was not known. */
async function look(around: Watched, root: string, known: readonly string[]): Promise<string[]> {
  const { askMainStatus } = await import("./ask.ts");
  // Taken first: what changes while git looks is seen the next time.
  const print = printOf(root, around.spot.commonDir) ?? "";
  const status = askMainStatus(root, around.env);
  if (status === undefined) return [];
  const entries = readStatus(status).files.map((path) => ({ path, entry: `${stateOf(root, path)} ${path}` }));
  const seen: Seen = { print, known: entries.map(({ entry }) => entry), lookedAt: around.now };
  if (!remember(fileOf(around), seen)) return [];
  return entries.filter(({ entry }) => !known.includes(entry)).map(({ path }) => path);
}

/** Where nothing can be remembered nothing is told, because it would be told again and again. */
function remember(file: string, seen: Seen): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(seen));
    return true;
  } catch {
    return false;
  }
}

function stateOf(root: string, path: string): string {
  const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeMs}` : "gone";
}

/** Undefined where git's index is too big for a quick look, or not of the usual kind. */
function printOf(root: string, gitDir: string): string | undefined {
  const paths = trackedPaths(gitDir);
  if (paths === undefined) return undefined;
  const folders = new Set(["."]);
  let sum = 0;
  const add = (text: string) => {
    for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  };
  for (const path of paths) {
    add(stateOf(root, path));
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of folders) add(namesIfReadable(join(root, folder)).join("\n"));
  return `${paths.length} ${sum}`;
}

export function straysWords(files: readonly string[], root: string, task: string | undefined): string {
  const shown = firstFew(files, 8);
  const way =
    task === undefined
      ? "start a task (`pawl start`), then `pawl rescue` moves them into its worktree"
      : `\`pawl rescue ${task}\` moves them into its worktree`;
  return `The main checkout ${root} has changes that were not there when this session began: ${shown}. Work belongs in a task's worktree. If your commands made them, ${way} and nothing is lost; if they are somebody else's, leave them alone.`;
}
