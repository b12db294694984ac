// The whole check on any machine with Node and git: installs what is missing, then types, style, dead code, build and
// tests. The last line counts the tests, so that whoever runs it need not read the rest.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";
import { installTestTools } from "./install-test-tools.mjs";

const only = process.argv.slice(2);
const tool = (name) => join(root, "node_modules", ".bin", name);

const before = [
  ["install", installIfNeeded],
  ["other tools", installTestTools],
  ["types", () => step("types", tool("tsc"), ["-p", "."])],
  ["style", () => step("style", tool("biome"), ["check", "--error-on-warnings", "."])],
  ["dead code", () => step("dead code", tool("knip"), [])],
  ["build", () => step("build", process.execPath, ["scripts/build.mjs"])],
];
const failed = before.find(([, run]) => !run());
if (failed) {
  process.stderr.write(`\nStopped: "${failed[0]}" failed.\n`);
  stop(0, 1);
} else {
  const folder = mkdtempSync(join(tmpdir(), "pawl-test-"));
  const report = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const ok = step("tests", tool("vitest"), ["run", ...reporters, ...only]);
  const result = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  rmSync(folder, { recursive: true, force: true });
  stop(result.numPassedTests ?? 0, Math.max(result.numFailedTests ?? 0, ok ? 0 : 1));
}

function stop(passed, failures) {
  console.log(`${passed} passed, ${failures} failed`);
  process.exitCode = failures === 0 && passed > 0 ? 0 : 1;
}
