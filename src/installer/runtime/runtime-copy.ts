import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { digestOf } from "../../files/digest.ts";
import { makeFolder, replaceQuickly } from "../../files/durable.ts";
import { jsonIfReadable, pathsIfPresent } from "../../files/read.ts";
import { step } from "../../model/steps.ts";

/** Made by the build beside the program: every file that it consists of, with its sha256. */
export interface Manifest {
  version: string;
  files: Record<string, string>;
}

const MANIFEST = "runtime.json";
/** The only part that is not in one file with a digest in its name; it is found as a package where npm put it. */
const PACKAGE = "node_modules/node-sqlite3-wasm/";

export const runtimeOf = (commonDir: string) => join(commonDir, "pawl", "runtime");

/** What a folder says that it holds; undefined when it is no copy of the program, such as the sources. */
export const readManifest = (folder: string) => jsonIfReadable<Manifest>(join(folder, MANIFEST));

/** Files of a copy that are missing or are not what its manifest says. */
function damagedFiles(folder: string, { files }: Manifest): string[] {
  return Object.entries(files).flatMap(([name, digest]) =>
    hasDigest(join(folder, name), digest) ? [] : [name],
  );
}

function hasDigest(path: string, digest: string): boolean {
  return existsSync(path) && digestOf(readFileSync(path)) === digest;
}

/** What a copy would write now. */
export function missingFiles(from: string, commonDir: string): string[] {
  const manifest = readManifest(from);
  const to = runtimeOf(commonDir);
  if (!manifest || from === to) return [];
  // Where all of them were copied before, it is enough to look; `pawl doctor` reads them.
  if (JSON.stringify(readManifest(to)) !== JSON.stringify(manifest)) return damagedFiles(to, manifest);
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;
  return Object.keys(manifest.files).filter(
    (name) => sizeOf(join(to, name)) !== sizeOf(sourceOf(from, name)),
  );
}

/**
 * Copies the program into the clone. Everything that its entries load has a name of its own for every content and comes
 * first; the entries come last, each by one rename. What the version before loads stays for the processes that run it.
 */
export function copyRuntime(from: string, commonDir: string, thoroughly: boolean): string[] {
  const manifest = readManifest(from);
  const to = runtimeOf(commonDir);
  const spoilt = thoroughly ? spoiltCaches(to) : [];
  for (const name of spoilt) rmSync(join(to, name), { force: true });
  if (!manifest || from === to) return spoilt;
  const before = readManifest(to);
  const missing = thoroughly ? damagedFiles(to, manifest) : missingFiles(from, commonDir);
  const isEntry = (name: string) => /^[^/-]+\.cjs$/.test(name);
  if (missing.length > 0) step("runtime files");
  copyAll(
    from,
    to,
    missing.filter((name) => !isEntry(name)),
  );
  for (const name of missing.filter(isEntry)) {
    step(`runtime ${name}`);
    copyAll(from, to, [name]);
  }
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (JSON.stringify(before) !== JSON.stringify(manifest)) {
    step("runtime manifest");
    replaceQuickly(join(to, MANIFEST), text);
    sweep(to, new Set([...Object.keys(manifest.files), ...Object.keys(before?.files ?? {}), MANIFEST]));
  }
  return [...missing, ...spoilt];
}

/** Nobody waits for the disk here: what a power cut would tear is found by its digest, and copied again. */
function copyAll(from: string, to: string, names: readonly string[]): void {
  for (const name of names) {
    const target = join(to, name);
    const temporary = `${target}.${process.pid}.new`;
    makeFolder(dirname(target));
    copyFileSync(sourceOf(from, name), temporary);
    renameSync(temporary, target);
  }
}

export function sourceOf(from: string, name: string): string {
  const beside = join(from, name);
  if (!name.startsWith(PACKAGE) || existsSync(beside)) return beside;
  const found = createRequire(join(from, "pawl.cjs")).resolve("node-sqlite3-wasm/package.json");
  return join(dirname(found), name.slice(PACKAGE.length));
}

/** Compiled code lies beside the files and carries their names, with a note of what it was when it was written. */
const COMPILED = /\.\d+\.\d[^/]*\.(?:cache|known)$/;

/** Everything in a copy that is not what was written there. */
export function changedFiles(folder: string): string[] {
  const manifest = readManifest(folder);
  if (!manifest) return [];
  return [...damagedFiles(folder, manifest), ...spoiltCaches(folder)];
}

function spoiltCaches(folder: string): string[] {
  return pathsIfPresent(folder)
    .filter((name) => name.endsWith(".known") && COMPILED.test(name))
    .flatMap((note) => {
      const [cache = "", digest] = readFileSync(join(folder, note), "latin1").trim().split(" ");
      const path = join(dirname(join(folder, note)), basename(cache));
      return existsSync(path) && digestOf(readFileSync(path)) !== digest ? [relative(folder, path)] : [];
    });
}

function sweep(folder: string, used: ReadonlySet<string>): void {
  for (const path of pathsIfPresent(folder)) {
    if (statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() !== true) continue;
    if (used.has(path) || used.has(path.replace(COMPILED, ""))) continue;
    step("runtime sweep");
    rmSync(join(folder, path), { force: true });
  }
}
