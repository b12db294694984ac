// Runs the benchmarks in bench/: `npm run bench -- store` runs one, without a name all of them, one after another. A
// suite is a program that prints its own table and exits with a code other than 0 when it misses its budget.
// With --write, docs/benchmarks.md says what came of it.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { readPage, renderPage } from "./bench/page.mjs";
import { textFiles } from "./build/text-files.mjs";
import { installTestTools } from "./install-test-tools.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "bench");
const write = process.argv.includes("--write");
const [named, ...args] = process.argv.slice(2).filter((word) => word !== "--write");

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
    external: [/^node:/, "node-sqlite3-wasm", "rolldown", "playwright-core"],
    ...textFiles,
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

/** Runs one suite; what it prints is shown while it runs, and kept. */
async function run(suite) {
  process.stderr.write(`\n== ${suite}\n`);
  const child = spawn(process.execPath, [await bundle(suite), ...args], {
    cwd: root,
    stdio: ["inherit", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const code = await new Promise((done) => child.on("close", done));
  return { suite, measured: whereAndWhen(), ok: code === 0, output };
}

function whereAndWhen() {
  const git = spawnSync("git", ["--version"], { encoding: "utf8" }).stdout.trim();
  const date = new Date().toISOString().slice(0, 10);
  return `${date} with Node ${process.versions.node}, ${git}, ${type()} ${release()}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`;
}

/** Suites that were not run keep what the page says of them. */
function writePage(suites, results) {
  const path = join(root, "docs", "benchmarks.md");
  const known = [...readPage(readFileSync(path, "utf8")), ...results];
  const newest = suites.flatMap((suite) => known.findLast((one) => one.suite === suite) ?? []);
  writeFileSync(path, renderPage(newest));
  process.stderr.write("\ndocs/benchmarks.md is written.\n");
}

const suites = findSuites();
if (named !== undefined && !suites.includes(named)) {
  console.error(`There is no suite "${named}". There are: ${suites.join(", ")}.`);
  process.exitCode = 3;
} else {
  installTestTools();
  const results = [];
  for (const suite of named === undefined ? suites : [named]) results.push(await run(suite));
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
  if (write) writePage(suites, results);
}
