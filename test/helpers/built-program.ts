import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface BuiltProgram {
  /** The folder that a user would have as `dist`. */
  folder: string;
  pawl: string;
  hook: string;
  remove(): void;
}

/** What is published, built from the sources as they are now, below node_modules, where its one package is found. */
export function buildProgram(): BuiltProgram {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const base = mkdtempSync(join(cache, "pawl-built-"));
  const folder = join(base, "dist");
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), folder], { stdio: "pipe" });
  return {
    folder,
    pawl: join(folder, "pawl.cjs"),
    hook: join(folder, "hook.cjs"),
    // A program that has just ended may still be writing what Node remembers of it.
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}
