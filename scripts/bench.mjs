// Runs the benchmarks in bench/: `npm run bench -- store` runs one, without a name all of them, one after another. A
// suite is a program that prints its own table and exits with a code other than 0 when it misses its budget.
// `npm run bench -- --write` runs all of them and writes docs/benchmarks.md.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { renderPage } from "./bench/page.mjs";
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
    external: [/^node:/, "node-sqlite3-wasm", "rolldown"],
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
  return { suite, ok: code === 0, output };
}

function machine() {
  const git = spawnSync("git", ["--version"], { encoding: "utf8" }).stdout.trim();
  return `Node ${process.versions.node}, ${git}, ${type()} ${release()}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`;
}

const suites = findSuites();
if (named !== undefined && (write || !suites.includes(named))) {
  console.error(
    write
      ? "The page is written from all suites: npm run bench -- --write."
      : `There is no suite "${named}". There are: ${suites.join(", ")}.`,
  );
  process.exitCode = 3;
} else {
  installTestTools();
  const results = [];
  for (const suite of named === undefined ? suites : [named]) results.push(await run(suite));
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
  if (write) {
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(join(root, "docs", "benchmarks.md"), renderPage(results, { date, machine: machine() }));
    process.stderr.write("\ndocs/benchmarks.md is written.\n");
  }
}
