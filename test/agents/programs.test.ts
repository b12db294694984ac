// @module-tag proof
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROGRAMS, PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";

test(
  "the real programs are installed in exact versions, and Copilot has unpacked itself into the shared cache",
  async () => {
    const manifest = JSON.parse(readFileSync(new URL("./programs.json", import.meta.url), "utf8"));
    const programs = await realPrograms();
    expect(Object.keys(programs.path)).toEqual([...PROGRAMS]);
    for (const [name, path] of Object.entries(programs.path)) {
      expect(statSync(path).mode & 0o111, name).not.toBe(0);
      const typed = programs.folders.map((folder) => join(folder, name)).find(existsSync) ?? "";
      expect(realpathSync(typed), name).toBe(realpathSync(path));
      expect(manifest[name].version).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(statSync(`${programs.cacheHome}/copilot`).isDirectory()).toBe(true);
  },
  PROGRAMS_TIMEOUT_MS,
);
