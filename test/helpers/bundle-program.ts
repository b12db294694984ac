import { join } from "node:path";
import { rolldown } from "rolldown";
import { textFiles } from "../../scripts/build/text-files.mjs";

/**
 * Node 20 cannot run TypeScript, and a loader would cost each process seconds: a program that a test starts in
 * processes of its own is bundled once, with the real sources, as the published one is.
 */
export async function bundleProgram(entry: string, folder: string, name: string): Promise<string> {
  const bundle = await rolldown({
    input: { [name]: entry },
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm"],
    ...textFiles,
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    // Which chunk a module lands in matters to the published program, not to a test's.
    checks: { ineffectiveDynamicImport: false },
  });
  await bundle.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: `${name}-chunks/[name]-[hash].cjs`,
  });
  await bundle.close();
  return join(folder, `${name}.cjs`);
}
