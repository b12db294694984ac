// The whole check on any machine with Node and git: installs what is missing, then types, style, dead code, build and
// tests. The last line counts the tests, so that whoever runs it need not read the rest.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const only = process.argv.slice(2);

function step(name, command, args) {
  process.stderr.write(`\n== ${name}\n`);
  const run = spawnSync(command, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  return run.status === 0;
}

function installed() {
  const [wanted, got] = ["package-lock.json", "node_modules/.package-lock.json"].map((file) => join(root, file));
  return existsSync(got) && statSync(got).mtimeMs >= statSync(wanted).mtimeMs;
}

function stop(counts) {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

const tool = (name) => join(root, "node_modules", ".bin", name);
const before = [
  ["install", "npm", ["ci", "--no-audit", "--no-fund"], () => !installed()],
  ["types", tool("tsc"), ["-p", "."]],
  ["style", tool("biome"), ["check", "--error-on-warnings", "."]],
  ["dead code", tool("knip"), []],
  ["build", process.execPath, ["scripts/build.mjs"]],
];
const failed = before.find(
  ([name, command, args, needed]) => (!needed || needed()) && !step(name, command, args),
);
if (failed) {
  process.stderr.write(`\nStopped: "${failed[0]}" failed.\n`);
  stop({ passed: 0, failed: 1 });
} else {
  const folder = mkdtempSync(join(tmpdir(), "pawl-test-"));
  const report = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const ok = step("tests", tool("vitest"), ["run", ...reporters, ...only]);
  const result = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  rmSync(folder, { recursive: true, force: true });
  const failures = Math.max(result.numFailedTests ?? 0, ok ? 0 : 1);
  stop({ passed: result.numPassedTests ?? 0, failed: failures });
}
