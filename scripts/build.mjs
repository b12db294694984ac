// Bundles the program into dist/: a small entry, the part that every command needs in one file, and chunks that are
// loaded when they are used. Only node-sqlite3-wasm stays a package, because its wasm file has to lie beside its code.
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
/** Tests build into a folder of their own: nobody may take the program away from under another one. */
const target = process.argv[2] ?? file("dist");

/** Loaded by every command: each further file would cost about half a millisecond at the start. */
const COMMON = [
  ...[
    "src/cli/(?!help|pager)",
    "src/core/(?!context/|audit/|sync/|gates/|runs/(?!current-run))",
    "node_modules/zod/[^?]*$",
  ],
  ...[
    "src/runtime/(?:open|run|world|answer|prepare|git-hands|with-yaml|perform|memory)\\.ts",
    "src/git/(?:discover|refs)\\.ts",
    "src/disk/read-line\\.ts",
  ],
  "src/store/(?:reader|files|home|layout|task-list|task-snapshot|event-cursor|unfinished|links|event-log)\\.ts",
];

/** Loaded by `check`, and for its gates by `session`: both have to be quick, and one file costs less than several. */
const CHECK = [
  "src/(?:ops/check|core/authors)\\.ts",
  "src/core/gates/",
  "src/runtime/sites\\.ts",
  "src/git/(?:branches|branch-facts|quick-clean)\\.ts",
];

/** Loaded by `pawl mcp` alone. */
const MCP = ["src/mcp/(?!command)", "node_modules/@modelcontextprotocol/", "\\?sdk$"];

/**
 * The MCP SDK uses all of zod, our commands a small part. Shared, the whole would be loaded by every command, so the
 * SDK gets a copy of its own. What would validate schemas of clients is left out: we ask clients for nothing.
 */
const sdkAlone = {
  name: "sdk-alone",
  resolveId: {
    order: "pre",
    async handler(source, importer, options) {
      if (source === "@modelcontextprotocol/server/_shims") return "sdk-shims?sdk";
      if (!importer || !/@modelcontextprotocol|\?sdk$/.test(importer)) return undefined;
      const found = await this.resolve(source, importer.replace(/\?sdk$/, ""), {
        ...options,
        skipSelf: true,
      });
      return found && /node_modules[\\/]zod[\\/]/.test(found.id)
        ? { ...found, id: `${found.id}?sdk` }
        : found;
    },
  },
  load(id) {
    if (id === "sdk-shims?sdk")
      return 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}';
    return id.endsWith("?sdk") ? readFileSync(id.slice(0, -"?sdk".length), "utf8") : undefined;
  },
};

/** One of these paths, on every system. */
const matching = (paths) => new RegExp(paths.join("|").replaceAll("/", "[\\\\/]"));

async function bundle(input, options) {
  const build = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm"],
    moduleTypes: { ".sh": "text" },
    plugins: [sdkAlone],
    ...options.input,
  });
  const { output } = await build.write({ dir: target, format: "cjs", minify: true, ...options.output });
  await build.close();
  return output;
}

rmSync(target, { recursive: true, force: true });
const chunks = await bundle(
  { program: file("src/cli/program.ts") },
  {
    output: {
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "chunks/[name]-[hash].cjs",
      codeSplitting: {
        groups: [
          { name: "program", test: matching(COMMON) },
          { name: "check", test: matching(CHECK) },
          { name: "mcp", test: matching(MCP) },
        ],
      },
    },
  },
);
const program = chunks.find((chunk) => chunk.type === "chunk" && chunk.isEntry).fileName;
await bundle(
  { pawl: file("src/cli/bin.ts") },
  {
    input: { transform: { define: { PROGRAM: JSON.stringify(program) } } },
    output: { entryFileNames: "[name].cjs", banner: "#!/usr/bin/env node" },
  },
);
const entry = join(target, "pawl.cjs");
chmodSync(entry, 0o755);
if (!readFileSync(entry, "utf8").includes(program)) throw new Error("dist/pawl.cjs names no program");
console.log(`dist/pawl.cjs, ${program} and ${chunks.length - 1} chunks`);
