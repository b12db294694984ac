import { closeSync, existsSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder, syncDirectory, writeDurably } from "../../files/durable.ts";
import { jsonIfReadable, namesIfReadable, textIfReadable } from "../../files/read.ts";
import { step } from "../../model/steps.ts";
import type { StopRequest } from "../../ports/agents.ts";

/**
 * One attempt is one folder, `runs/<task>.<run>/a<number>/`, in which every file has exactly one possible writer, or is
 * written by whoever is first. So nobody needs a lock, and whoever is killed leaves a state that says how far it came.
 */
export interface AttemptSpec {
  run: string;
  number: number;
  agent: string;
  /** The known program whose stream it prints; undefined for a command of the project's own. */
  program: string | undefined;
  version: string | undefined;
  argv: string[];
  cwd: string;
  /** In the environment of everything that belongs to the attempt: how its processes are found. */
  mark: string;
  session: string | undefined;
  begun: string;
  limits: {
    timeMs: number;
    idleMs: number | undefined;
    cost: number | undefined;
    turns: number | undefined;
    log: number;
  };
  /** Dollars for a million tokens, where the program does not say what it cost. */
  prices: { input: number; cached: number; output: number } | undefined;
  /** What a conversation that goes on had used before. */
  before: { input: number; cached: number; output: number };
  gitDirs: string[];
  /** Ends what a runner started out of our sight. */
  stopCommand: string[] | undefined;
  /** The command that writes the end down, and where it is run. */
  settle: { argv: string[]; cwd: string };
  /** The command that renews the task's claim, in the same place; undefined where there is none. */
  renew: { argv: string[]; everyMs: number } | undefined;
}

export const files = {
  spec: "spec.json",
  input: "in",
  owner: "owner",
  started: "started",
  pid: "started/pid",
  beat: "beat",
  out: "out",
  err: "err",
  stop: "stop.json",
  exit: "exit.json",
  progress: "progress.json",
  log: "supervisor.log",
} as const;

export const runFolder = (runs: string, run: string) => join(runs, run.replace("/", "."));

export function attemptNumbers(folder: string): number[] {
  return namesIfReadable(folder)
    .flatMap((name) => (/^a\d+$/.test(name) ? [Number(name.slice(1))] : []))
    .sort((one, other) => one - other);
}

export function latestAttempt(runs: string, run: string): { number: number; path: string } | undefined {
  const folder = runFolder(runs, run);
  const number = attemptNumbers(folder).at(-1);
  return number === undefined ? undefined : { number, path: join(folder, `a${number}`) };
}

/** A folder gets its name when it is filled; a name that is taken by a filled one cannot be taken again. */
export function makeAttempt(
  runs: string,
  run: string,
  number: number,
  contents: Readonly<Record<string, string>>,
): string | undefined {
  const folder = runFolder(runs, run);
  makeFolder(folder);
  const path = join(folder, `a${number}`);
  const filling = join(folder, `.new-${unlikeAny()}`);
  // What an agent reads and says is its user's alone.
  mkdirSync(filling, { mode: 0o700 });
  try {
    for (const [name, text] of Object.entries(contents)) {
      mkdirSync(dirname(join(filling, name)), { recursive: true });
      writeNew(join(filling, name), text);
    }
    step("attempt folder");
    renameSync(filling, path);
  } catch (error) {
    rmSync(filling, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EPERM") return undefined;
    throw error;
  }
  syncDirectory(folder);
  return path;
}

/** Adds what is missing in a folder that lost some of its files; the last one tells that all are there. */
export function completeAttempt(path: string, contents: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    putOnce(join(path, name), text);
  }
}

/** A name that nobody else uses now, here or in another pid namespace. No secret, so that no supervisor loads cryptography. */
const unlikeAny = () => `${process.pid}-${Math.random().toString(36).slice(2)}`;

/** What an agent is told is for nobody else to read. */
const writeNew = (path: string, text: string) => writeDurably(path, text, 0o600);

/** True for the one caller whose text it became: a finished file gets its name by a link, which no name takes twice. */
export function putOnce(path: string, text: string): boolean {
  const temporary = `${path}.${unlikeAny()}`;
  writeNew(temporary, text);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** True for the one caller that made it. */
export function makeOnce(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

export const readSpec = (path: string) => jsonIfReadable<AttemptSpec>(join(path, files.spec));
export const readStop = (path: string) => jsonIfReadable<StopRequest>(join(path, files.stop));

export interface ExitFile {
  code: number | null;
  by: "guard" | "supervisor" | "settler";
  lost?: string;
  at: string;
}

/** Whoever ends everything may kill the guard's own `date`, which leaves it without a time; then the file has one. */
export function readExit(path: string): ExitFile | undefined {
  const file = join(path, files.exit);
  const exit = jsonIfReadable<ExitFile>(file);
  if (exit === undefined || !Number.isNaN(Date.parse(exit.at))) return exit;
  return { ...exit, at: new Date(modifiedAt(file) ?? Date.now()).toISOString() };
}

/** The pid of the guard, which leads the agent's group; 0 while nobody has said it. */
export const readGuard = (path: string) => Number(textIfReadable(join(path, files.pid)) ?? 0);

/** Everybody who supervised it, in their order: each took over from one that was dead. */
export function owners(path: string): string[] {
  const found: string[] = [];
  for (let nth = 1; ; nth++) {
    const owner = textIfReadable(join(path, ownerFile(nth)));
    if (owner === undefined) return found;
    found.push(owner);
  }
}

export const ownerFile = (nth: number) => (nth === 1 ? files.owner : `${files.owner}.${nth}`);

export const modifiedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Runs whose latest attempt waits to be written down: a mark that is made before the attempt, and removed after. */
const openFolder = (runs: string) => join(runs, "open");
const openMark = (runs: string, run: string) => join(openFolder(runs), run.replace("/", "."));

export function markOpen(runs: string, run: string): void {
  makeFolder(openFolder(runs));
  const fd = openSync(openMark(runs, run), "a");
  closeSync(fd);
}

export const unmarkOpen = (runs: string, run: string) => rmSync(openMark(runs, run), { force: true });
export const isOpen = (runs: string, run: string) => existsSync(openMark(runs, run));

export function openRuns(runs: string): string[] {
  return namesIfReadable(openFolder(runs)).flatMap((name) =>
    /^T\d+\.R\d+$/.test(name) ? [name.replace(".", "/")] : [],
  );
}
