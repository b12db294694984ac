import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPlace } from "./build-cache.ts";

const script = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));

export interface BuiltProgram {
  /** The folder that a user would have as `dist`. */
  folder: string;
  pawl: string;
  hook: string;
  remove(): void;
}

/** What is published, built from the sources as they are now: a copy that its test may change. */
export function buildProgram(): BuiltProgram {
  const place = buildPlace("program");
  if (!place.isThere) {
    const made = place.begin();
    execFileSync(process.execPath, [script, join(made, "dist")], { stdio: "pipe" });
    place.put(made);
  }
  const own = mkdtempSync(join(dirname(place.folder), "copy-"));
  cpSync(place.folder, own, { recursive: true });
  const folder = join(own, "dist");
  return {
    folder,
    pawl: join(folder, "pawl.cjs"),
    hook: join(folder, "hook.cjs"),
    // A program that has just ended may still be writing what Node remembers of it.
    remove: () => rmSync(own, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}
