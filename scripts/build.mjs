// Bundles the program into dist/: a small entry, the part that every command needs in one file, and chunks that are
// loaded when they are used. Only node-sqlite3-wasm stays a package, because its wasm file has to lie beside its code.
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { asFunctions, bundle } from "./build/bundle.mjs";
import { groups } from "./build/chunk-groups.mjs";
import { listRuntime } from "./build/list-runtime.mjs";
import { writePlugin } from "./build/write-plugin.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const file = (path) => join(root, path);
/** Tests may build into a folder of their own. */
const target = process.argv[2] ?? file("dist");
// Made beside the target and put into its place at the end: whoever runs the program meanwhile finds it whole.
const made = `${target}-${process.pid}`;

const program = await bundleProgram();
await bundleEntry(program);
await bundleHook();
await bundleSupervisor();
listRuntime(root, made);
// After the list: a clone's own copy of the program has no use for it.
await writePlugin(root, made);
putInPlace();
console.log(`${program} and what it loads are in ${process.argv[2] ?? "dist"}`);

async function bundleProgram() {
  const chunks = await bundle({ program: file("src/cli/program.ts") }, made, {
    output: {
      ...asFunctions,
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "chunks/[name]-[hash].cjs",
      codeSplitting: { groups },
    },
  });
  // Node 20 runs these files as scripts, which have no `import()`: what is loaded later has to be a chunk of its own.
  const importing = chunks.filter((chunk) => chunk.type === "chunk" && /\bimport\(["'`]/.test(chunk.code));
  if (importing.length > 0)
    throw new Error(`import() of a package in ${importing.map((chunk) => chunk.fileName).join(", ")}`);
  return chunks.find((chunk) => chunk.type === "chunk" && chunk.isEntry).fileName;
}

async function bundleEntry(programName) {
  const define = { PROGRAM: JSON.stringify(programName) };
  await bundle({ pawl: file("src/cli/bin.ts") }, made, {
    input: { transform: { define } },
    output: { entryFileNames: "[name].cjs", banner: "#!/usr/bin/env node" },
  });
  chmodSync(join(made, "pawl.cjs"), 0o755);
  if (!readFileSync(join(made, "pawl.cjs"), "utf8").includes(programName))
    throw new Error("pawl.cjs names no program");
}

/** What agents start before each of their tools: a bundle of its own, because nothing of the program is needed for it. */
async function bundleHook() {
  const chunks = await bundle({ hook: file("src/agent-hooks/hook.ts") }, made, {
    output: {
      ...asFunctions,
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "chunks/hook-[name]-[hash].cjs",
    },
  });
  const define = { HOOK: JSON.stringify(chunks.find((chunk) => chunk.isEntry).fileName) };
  await bundle({ hook: file("src/agent-hooks/bin.ts") }, made, {
    input: { transform: { define } },
    output: { entryFileNames: "[name].cjs" },
  });
}

/** What stays with a running agent: as small as it can be, because there is one for each. */
async function bundleSupervisor() {
  await bundle({ supervise: file("src/agents/bin.ts") }, made, { output: { entryFileNames: "[name].cjs" } });
}

function putInPlace() {
  const replaced = `${made}-replaced`;
  if (existsSync(target)) renameSync(target, replaced);
  renameSync(made, target);
  rmSync(replaced, { recursive: true, force: true });
}
