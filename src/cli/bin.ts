import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

/** The file name of the bundled program, with a digest of its content; the build puts it here. */
declare const PROGRAM: string;

/**
 * Node 22 and newer keep compiled code between runs by themselves. Node 20 does not, and compiling is a third of a
 * short command's time, so here the code cache is kept beside each file. Its name carries the file's digest and V8's
 * version: V8 itself would accept the cache of another text of the same length.
 */
const loaded = new Map<string, { exports: unknown }>();
const unsaved = new Map<string, Script>();
const compileCache = (module as { enableCompileCache?: () => void }).enableCompileCache;
if (compileCache) {
  compileCache();
  createRequire(__filename)(`./${PROGRAM}`);
} else load(join(__dirname, PROGRAM));

/** Everything that was loaded this way, by its path: the chunks require the program back, and it must start only once. */
function load(path: string): unknown {
  const known = loaded.get(path);
  if (known) return known.exports;
  const cacheFile = `${path}.${process.versions.v8}.${process.arch}.cache`;
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, "utf8")}\n})`;
  const cachedData = readOr(cacheFile);
  const script = new Script(source, { filename: path, ...(cachedData ? { cachedData } : {}) });
  const own = { exports: {} };
  loaded.set(path, own);
  const folder = dirname(path);
  const other = createRequire(path);
  const requireOwn = (id: string) => (id.startsWith(".") ? load(join(folder, id)) : other(id));
  script.runInThisContext()(own.exports, requireOwn, own, path, folder);
  if (!cachedData || script.cachedDataRejected) {
    if (unsaved.size === 0) process.once("exit", saveAll);
    unsaved.set(cacheFile, script);
  }
  return own.exports;
}

/** In one go: Node warns about more than ten listeners, and a command may load more files than that. */
function saveAll(): void {
  for (const [path, script] of unsaved) save(path, script);
}

function readOr(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** At exit, when the functions that a command really uses have been compiled; a folder we may not write to has none. */
function save(path: string, script: Script): void {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}
