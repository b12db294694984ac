import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { DAMAGED } from "../model/damaged-program.ts";

/**
 * Compiling is a third of a short command's time, so what was compiled is kept beside each file. The file's name carries a
 * digest of its text, and the cache's one V8's version: V8 itself would accept the cache of another text of the same length.
 * A note tells what the cache was when we wrote it; one that anybody has written to since is not used. (Node 22 and newer
 * have a cache of their own, in a folder for temporary files that everybody may write to.)
 */
const loaded = new Map<string, { exports: unknown }>();
const compiled = new Map<string, { script: Script; runs: Runs }>();
const version = `${process.versions.v8}.${process.arch}`;

/** How often each command has added to a cache what it compiled. */
type Runs = Map<string, number>;

/** A command adds what it compiles the first few times, because each may take another way, and then once in a while. */
const FIRST_RUNS = 4;
const LATER = 1 / 64;

let believed = true;

/**
 * Runs a bundled file, with what was compiled before; once in a process. Whoever can write a cache decides what a program
 * does, so that what a human's word hangs on is compiled from its text every time.
 */
export function runBundled(path: string, fromText = false): void {
  believed = !fromText;
  load(path);
}

/** Everything that was loaded this way, by its path: the chunks require the program back, and it must start only once. */
function load(path: string): unknown {
  const known = loaded.get(path);
  if (known) return known.exports;
  const kept = believed ? readKept(path) : undefined;
  const script = compile(path, kept?.data);
  // A dictionary from the start: otherwise each of some hundred exports would give it another shape.
  const own = { exports: Object.create(null) };
  loaded.set(path, own);
  const folder = dirname(path);
  const requireOwn = (id: string) => (id.startsWith(".") ? load(join(folder, id)) : require(id));
  script.runInThisContext()(own.exports, requireOwn, own, path, folder);
  if (believed) remember(path, script, (!script.cachedDataRejected && kept?.runs) || new Map());
  return own.exports;
}

function compile(path: string, cachedData: Buffer | undefined): Script {
  try {
    // The build makes it one function, with nothing but ASCII in it: half of the memory, and no decoding.
    const source = readFileSync(path, "latin1");
    return new Script(source, cachedData ? { filename: path, cachedData } : { filename: path });
  } catch (cause) {
    // An installation or an upgrade that was cut off, or a disk that was full.
    throw Object.assign(new Error(`${path} is missing or damaged.`, { cause }), { code: DAMAGED });
  }
}

function remember(path: string, script: Script, runs: Runs): void {
  if (compiled.size === 0) process.once("exit", saveCompiled);
  compiled.set(path, { script, runs });
}

/** At exit, when the functions that a command really uses have been compiled. */
function saveCompiled(): void {
  // The program loads the command's own file first of all.
  const command = basename([...loaded.keys()][1] ?? "");
  const isLater = Math.random() < LATER;
  for (const [path, { script, runs }] of compiled) {
    const times = runs.get(command) ?? 0;
    if (times >= FIRST_RUNS && !isLater) continue;
    save(path, script, runs.set(command, Math.min(times + 1, FIRST_RUNS)));
  }
}

/** Whoever writes to a file cannot help changing this, whatever else they put back. */
function stampOf(path: string): string {
  const { ino, size, ctimeMs } = statSync(path);
  return `${ino}-${size}-${ctimeMs}`;
}

/** What the cache of a file is called, its digest, what it was when it was written, and how often by which command. */
const noteOf = (path: string) => `${path}.${version}.known`;

function readNote(path: string): string[] {
  try {
    return readFileSync(noteOf(path), "latin1").trim().split(" ");
  } catch {
    return [];
  }
}

function readKept(path: string): { data: Buffer; runs: Runs } | undefined {
  try {
    const [name = "", , stamp, runs = ""] = readNote(path);
    const cache = join(dirname(path), name);
    const data = readFileSync(cache);
    return stampOf(cache) === stamp ? { data, runs: readRuns(runs) } : undefined;
  } catch {
    return undefined;
  }
}

const readRuns = (text: string): Runs =>
  new Map([...text.matchAll(/([^,]*):(\d)/g)].map(([, command = "", times]) => [command, Number(times)]));
const printRuns = (runs: Runs) => [...runs].map(([command, times]) => `${command}:${times}`).join(",");

/** A folder that we may not write to has no caches. */
function save(path: string, script: Script, runs: Runs): void {
  const ours = `${path}.${version}.`;
  const cache = `${ours}${process.pid}-${Date.now().toString(36)}.cache`;
  const temporary = `${cache}.note`;
  try {
    const { createHash } = require("node:crypto") as typeof import("node:crypto");
    const data = script.createCachedData();
    const digest = createHash("sha256").update(data).digest("hex");
    writeFileSync(cache, data);
    writeFileSync(temporary, `${basename(cache)} ${digest} ${stampOf(cache)} ${printRuns(runs)}\n`);
    renameSync(temporary, noteOf(path));
    // Also those that others wrote at the same time: whoever misses one compiles the text once more.
    for (const name of readdirSync(dirname(path))) {
      const other = join(dirname(path), name);
      if (other.startsWith(ours) && other.endsWith(".cache") && other !== cache)
        rmSync(other, { force: true });
    }
  } catch {
    for (const one of [cache, temporary]) rmSync(one, { force: true });
  }
}
