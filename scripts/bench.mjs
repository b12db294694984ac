// Runs the benchmarks in bench/: `npm run bench -- store` runs one, without a name all of them, one after another. A
// suite is a program that prints its own table and exits with a code other than 0 when it misses its budget.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "bench");
const [first, ...others] = process.argv.slice(2);
const [named, args] = first?.startsWith("-") ? [undefined, [first, ...others]] : [first, others];

/** Files that other files of the folder import are their helpers. */
function findSuites() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const sources = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  return files.filter((name) => !sources.includes(`"./${name}"`)).map((name) => name.slice(0, -3));
}

/** Node 20 runs no TypeScript. Below node_modules, what stays a package is found from the bundle too. */
async function bundle(suite) {
  const dir = join(root, "node_modules", ".cache", "pawl-bench", suite);
  mkdirSync(dir, { recursive: true });
  const built = await rolldown({
    input: { [suite]: join(folder, `${suite}.ts`) },
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm", "rolldown"],
    moduleTypes: { ".sh": "text", ".hbs": "text", ".txt": "text" },
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    checks: { ineffectiveDynamicImport: false },
  });
  await built.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name]-[hash].mjs",
  });
  await built.close();
  return join(dir, `${suite}.mjs`);
}

const suites = findSuites();
if (named !== undefined && !suites.includes(named)) {
  console.error(`There is no suite "${named}". There are: ${suites.join(", ")}.`);
  process.exitCode = 3;
} else {
  for (const suite of named === undefined ? suites : [named]) {
    const run = spawnSync(process.execPath, [await bundle(suite), ...args], { cwd: root, stdio: "inherit" });
    if (run.status !== 0) process.exitCode = 1;
  }
}
