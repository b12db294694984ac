// Bundles the program into dist/: one small entry and chunks that are loaded when they are used. Only
// node-sqlite3-wasm stays a package, because its wasm file has to lie beside its code.
import { chmodSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { rolldown } from "rolldown";

const dist = new URL("../dist/", import.meta.url).pathname;
rmSync(dist, { recursive: true, force: true });
const bundle = await rolldown({
  input: { pawl: new URL("../src/cli/bin.ts", import.meta.url).pathname },
  platform: "node",
  external: [/^node:/, "node-sqlite3-wasm"],
});
await bundle.write({
  dir: dist,
  format: "cjs",
  minify: true,
  // What every command needs lies in one file: each further one costs about half a millisecond at the start.
  advancedChunks: {
    groups: [
      {
        name: "common",
        test: /(?:src[\\/](?:core(?![\\/]context)|cli(?![\\/]help)|runtime[\\/](?:open|run|world|answer|prepare)\.ts|store[\\/](?:reader|files|home|layout|task-list)\.ts|git[\\/]discover)|zod)/,
      },
    ],
  },
  entryFileNames: "[name].cjs",
  chunkFileNames: "chunks/[name]-[hash].cjs",
  banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : ""),
});
await bundle.close();
chmodSync(`${dist}pawl.cjs`, 0o755);
const entry = readFileSync(`${dist}pawl.cjs`, "utf8");
if (!entry.startsWith("#!")) throw new Error("dist/pawl.cjs lost its first line");
console.log(`dist/pawl.cjs and ${readdirSync(`${dist}chunks`).length} chunks`);
