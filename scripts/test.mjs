// The whole check on any machine with Node and git: installs what is missing, then types, style, dead code, build and
// tests. The last line counts the tests, so that whoever runs it need not read the rest. With --fast it is what one runs
// between two edits: nothing is downloaded but node_modules, and only tests that are done in a minute are run.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";
import { installTestTools } from "./install-test-tools.mjs";

const FAST = [
  "model",
  "judge",
  "flows",
  "files",
  "git",
  "cli",
  "agent-hooks",
  "runtime",
  "installer/edit",
  "installer/render",
];

const isFast = process.argv.includes("--fast");
const named = process.argv.slice(2).filter((one) => one !== "--fast");
const only =
  isFast && named.length === 0 ? ["test/boundaries.test.ts", ...FAST.map((room) => `test/${room}/`)] : named;
const tool = (name) => join(root, "node_modules", ".bin", name);

const before = [
  ["install", installIfNeeded],
  ...(isFast ? [] : [["other tools", installTestTools]]),
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
  const longest = join(root, "scripts/longest-test-files.mjs");
  const reporters = ["default", "json", longest].map((one) => `--reporter=${one}`);
  const ok = step("tests", tool("vitest"), ["run", ...reporters, `--outputFile.json=${report}`, ...only]);
  const result = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  rmSync(folder, { recursive: true, force: true });
  stop(result.numPassedTests ?? 0, Math.max(result.numFailedTests ?? 0, ok ? 0 : 1));
}

function stop(passed, failures) {
  console.log(`${passed} passed, ${failures} failed`);
  process.exitCode = failures === 0 && passed > 0 ? 0 : 1;
}
