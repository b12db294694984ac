// The tests in four tiers, each one command on any machine with Node and git. Standard output is one line that counts them.
//   npm run check     between edits, a minute: types, style, dead code, build, and the tests that start few processes
//   npm test          before a commit, five minutes: installs what is missing, and adds the tests that every change needs
//   npm run proofs    before a push: every kill, real agents, browsers, other gits and shells, every page of the documentation
//   npm run long      by hand and weekly: chaos for PAWL_TEST_SECONDS each, property tests with PAWL_TEST_RUNS times their runs
// Words after `--` choose files of the tier by a part of their path: npm run proofs -- crash/approve
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openRunFolders } from "../test/helpers/run-folders.mjs";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";
import { installTestTools } from "./install-test-tools.mjs";

const [tier = "test", ...chosen] = process.argv.slice(2);
const tool = (name) => join(root, "node_modules", ".bin", name);

const INSTALL = ["install", installIfNeeded];
const TOOLS = ["other tools", installTestTools];
const SOURCES = [
  ["types", () => step("types", tool("tsc"), ["-p", "."])],
  ["style", () => step("style", tool("biome"), ["check", "--error-on-warnings", "."])],
  ["dead code", () => step("dead code", tool("knip"), [])],
  ["build", () => step("build", process.execPath, ["scripts/build.mjs"])],
];
const FIRST = {
  check: [INSTALL, ...SOURCES],
  test: [INSTALL, ...SOURCES],
  proofs: [INSTALL, TOOLS],
  long: [INSTALL, TOOLS],
};

// What npm starts ends with npm, also when that is killed: the shell between the two would wait for this process.
const family = parents();
const isOrphan = () => parents() !== family;
setInterval(() => isOrphan() && process.exit(1), 500).unref();

const stopped = FIRST[tier].find(([, run]) => isOrphan() || !run());
if (stopped) {
  process.stderr.write(`\nStopped: "${stopped[0]}" failed.\n`);
  stop(0, 1);
} else await runTests();

/** This process's parent, and that one's parent where the system tells. */
function parents() {
  const status = `/proc/${process.ppid}/status`;
  return `${process.ppid} ${existsSync(status) ? /^PPid:.*/m.exec(readFileSync(status, "utf8")) : ""}`;
}

async function runTests() {
  const reporters = ["default", join(root, "scripts/test-report.mjs")].map((one) => `--reporter=${one}`);
  process.stderr.write("\n== tests\n");
  const clearAway = openRunFolders();
  const child = spawn(process.execPath, [tool("vitest"), "run", ...reporters, ...chosen], {
    cwd: root,
    env: { ...process.env, PAWL_TEST_TIER: tier },
    // Over the channel come the counts (scripts/test-report.mjs).
    stdio: ["inherit", 2, 2, "ipc"],
  });
  let counts = { passed: 0, failed: 0 };
  child.on("message", (message) => {
    counts = message;
  });
  // Ctrl-C reaches vitest as well: this process waits until that has cleaned up.
  process.on("SIGINT", () => {});
  const code = await new Promise((done) => child.on("exit", done));
  await clearAway();
  stop(counts.passed, Math.max(counts.failed, code === 0 ? 0 : 1));
}

function stop(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
