import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

/**
 * Node 22 and newer keep compiled code between runs by themselves. Node 20 does not, and compiling is a third of a
 * short command's time, so here the code cache is kept beside each file. Its name carries the file's digest and V8's
 * version: V8 itself would accept the cache of another text of the same length.
 */
const loaded = new Map<string, { exports: unknown }>();
const unsaved = new Map<string, { script: Script; times: number }>();
const suffix = `${process.versions.v8}.${process.arch}.cache`;
/** What one run compiles is added to what those before it did: at first almost every time, later once in 64. */
const SELDOM = 6;
const HEAD = Buffer.from("(function (exports, require, module, __filename, __dirname) {");
const TAIL = Buffer.from("\n})");

let believed = true;

/**
 * Runs a bundled file, with what was compiled before; once in a process. Whoever can write a cache decides what a program
 * does, so that what a human's word hangs on is compiled from its text every time.
 */
export function runBundled(path: string, fromText = false): void {
  believed = !fromText;
  if (fromText) {
    load(path);
    return;
  }
  // On Node 20 loading node:module would bring the loader of ES modules, which takes more than a millisecond.
  const compileCache =
    Number.parseInt(process.versions.node, 10) > 20
      ? (require("node:module") as { enableCompileCache?: () => void }).enableCompileCache
      : undefined;
  compileCache?.();
  if (compileCache) require(path);
  else load(path);
}

/** Everything that was loaded this way, by its path: the chunks require the program back, and it must start only once. */
function load(path: string): unknown {
  const known = loaded.get(path);
  if (known) return known.exports;
  // The build leaves nothing but ASCII in it: half of the memory, and no decoding. V8 would copy a text made of parts.
  const source = Buffer.concat([HEAD, readFileSync(path), TAIL]).toString("latin1");
  const kept = believed ? readOr(`${path}.${suffix}`) : undefined;
  const script = new Script(source, kept ? { filename: path, cachedData: kept.data } : { filename: path });
  // A dictionary from the start: otherwise each of some hundred exports would give it another shape.
  const own = { exports: Object.create(null) };
  loaded.set(path, own);
  const folder = dirname(path);
  const requireOwn = (id: string) => (id.startsWith(".") ? load(join(folder, id)) : require(id));
  script.runInThisContext()(own.exports, requireOwn, own, path, folder);
  const times = kept && !script.cachedDataRejected ? kept.times : 0;
  if (believed && Math.random() < 2 ** -Math.min(times, SELDOM))
    remember(`${path}.${suffix}`, script, times + 1);
  return own.exports;
}

function remember(cacheFile: string, script: Script, times: number): void {
  if (unsaved.size === 0)
    process.once("exit", () => {
      for (const [path, one] of unsaved) save(path, one.script, one.times);
    });
  unsaved.set(cacheFile, { script, times });
}

/** The last byte says how often it was written. */
function readOr(path: string): { data: Buffer; times: number } | undefined {
  try {
    const bytes = readFileSync(path);
    return { data: bytes.subarray(0, -1), times: bytes[bytes.length - 1] ?? 0 };
  } catch {
    return undefined;
  }
}

/** At exit, when the functions that a command really uses have been compiled; a folder we may not write to has none. */
function save(path: string, script: Script, times: number): void {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([script.createCachedData(), Buffer.of(Math.min(times, SELDOM))]));
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}
