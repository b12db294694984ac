import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";

/**
 * Loads a bundled file that requires nothing of ours, with its compiled code kept beside it: for a large file that a
 * short process needs, compiling is most of the time. The file's name has to carry a digest of its content, because V8
 * would accept the cache of another text of the same length.
 */
export function loadCached(path: string): unknown {
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, "utf8")}\n})`;
  const file = `${path}.${process.versions.v8}.${process.arch}.cache`;
  const cachedData = readOr(file);
  const script = new Script(source, { filename: path, ...(cachedData ? { cachedData } : {}) });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, require, module, path, dirname(path));
  // At exit the functions that were really used have been compiled.
  if (!cachedData || script.cachedDataRejected) process.once("exit", () => keep(file, script));
  return module.exports;
}

function readOr(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** A folder that we may not write to has none. */
function keep(file: string, script: Script): void {
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, file);
  } catch {
    rmSync(temporary, { force: true });
  }
}
