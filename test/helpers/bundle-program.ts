import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { textFiles } from "../../scripts/build/text-files.mjs";
import { buildPlace } from "./build-cache.ts";

/**
 * Node 20 cannot run TypeScript, and a loader would cost each process seconds: a program that a test starts in
 * processes of its own is bundled once, with the real sources, as the published one is.
 */
export async function bundleProgram(entry: string, folder: string, name: string): Promise<string> {
  const place = buildPlace(`${name}-${createHash("sha256").update(entry).digest("hex").slice(0, 8)}`);
  if (!place.isThere) {
    const made = place.begin();
    await bundle(entry, made, name);
    place.put(made);
  }
  // Away from our packages: a program that needs more of them than a user has fails.
  cpSync(place.folder, folder, { recursive: true });
  return join(folder, `${name}.cjs`);
}

async function bundle(entry: string, folder: string, name: string): Promise<void> {
  // Loaded here, because what it weighs is copied with every process that a test starts, and most runs find all built.
  const { rolldown } = await import("rolldown");
  const bundled = await rolldown({
    input: { [name]: entry },
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm"],
    ...textFiles,
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    // Which chunk a module lands in matters to the published program, not to a test's.
    checks: { ineffectiveDynamicImport: false },
  });
  await bundled.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: `${name}-chunks/[name]-[hash].cjs`,
  });
  await bundled.close();
}
