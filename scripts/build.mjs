// Bundles the program into dist/: a small entry, the part that every command needs in one file, and chunks that are
// loaded when they are used. Only node-sqlite3-wasm stays a package, because its wasm file has to lie beside its code.
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Loaded by every command: each further file would cost about half a millisecond at the start. */
const COMMON = [
  ...[
    "src/cli/(?!help|pager)",
    "src/core/(?!context/|audit/|sync/|gates/|runs/(?!current-run))",
    "node_modules/zod/",
  ],
  ...[
    "src/runtime/(?:open|run|world|answer|prepare|git-hands|with-yaml|perform|memory)\\.ts",
    "src/git/(?:discover|refs)\\.ts",
    "src/disk/(?:read-line|below)\\.ts",
  ],
  "src/store/(?:reader|files|home|layout|task-list|task-snapshot|event-cursor|unfinished|links|event-log)\\.ts",
];

/** Loaded by `check`, and for its gates by `session`: both have to be quick, and one file costs less than several. */
const CHECK = [
  "src/(?:ops/check|core/authors)\\.ts",
  "src/core/gates/",
  "src/runtime/sites\\.ts",
  "src/git/(?:branches|branch-facts|quick-clean|small-blob-hash)\\.ts",
];

/** One of these paths, on every system. */
const matching = (paths) => new RegExp(paths.join("|").replaceAll("/", "[\\\\/]"));

/** The files are read as one byte per character, so what is more than ASCII is written as its escape. */
const onlyAscii = {
  name: "only-ascii",
  generateBundle(_, files) {
    const escaped = (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
    for (const one of Object.values(files))
      if (one.type === "chunk") one.code = one.code.replace(/[\u0080-\uffff]/g, escaped);
  },
};

/** V8 keeps text above this apart from young objects; below, it fills a tenth of what may be made before a collection. */
const LARGE_TEXT = 132_000;
const largeProgram = {
  name: "large-program",
  generateBundle(_, files) {
    for (const one of Object.values(files))
      if (one.type === "chunk" && one.isEntry) one.code = one.code.padEnd(LARGE_TEXT);
  },
};

/** The ids of the registry; the program itself would have to be loaded to ask it. */
function operationIds() {
  const text = readFileSync(file("src/ops/index.ts"), "utf8");
  const ids = [...text.matchAll(/^ {2}"?([a-z.-]+)"?: async/gm)].map((found) => found[1]);
  if (ids.length !== text.split("async () =>").length - 1)
    throw new Error("src/ops/index.ts is not understood");
  return ` ${ids.join(" ")} `;
}

async function bundle(input, options) {
  const build = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm"],
    moduleTypes: { ".sh": "text" },
    plugins: [onlyAscii],
    ...options.input,
  });
  const { output } = await build.write({ dir: file("dist"), format: "cjs", minify: true, ...options.output });
  await build.close();
  return output;
}

rmSync(file("dist"), { recursive: true, force: true });
const chunks = await bundle(
  { program: file("src/cli/program.ts") },
  {
    input: { plugins: [onlyAscii, largeProgram] },
    output: {
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "chunks/[name]-[hash].cjs",
      codeSplitting: {
        groups: [
          { name: "program", test: matching(COMMON) },
          { name: "check", test: matching(CHECK) },
        ],
      },
    },
  },
);
// Node 20 runs these files as scripts, which have no `import()`: what is loaded later has to be a chunk of its own.
const importing = chunks.filter((chunk) => chunk.type === "chunk" && /\bimport\(/.test(chunk.code));
if (importing.length > 0)
  throw new Error(`import() of a package in ${importing.map((chunk) => chunk.fileName).join(", ")}`);
const program = chunks.find((chunk) => chunk.type === "chunk" && chunk.isEntry).fileName;
await bundle(
  { pawl: file("src/cli/bin.ts") },
  {
    input: {
      transform: { define: { PROGRAM: JSON.stringify(program), OPERATIONS: JSON.stringify(operationIds()) } },
    },
    output: { entryFileNames: "[name].cjs", banner: "#!/usr/bin/env node" },
  },
);
chmodSync(file("dist/pawl.cjs"), 0o755);
if (!readFileSync(file("dist/pawl.cjs"), "utf8").includes(program))
  throw new Error("dist/pawl.cjs names no program");
console.log(`dist/pawl.cjs, ${program} and ${chunks.length - 1} chunks`);
