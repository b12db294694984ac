// Runs the tests of the agents' real programs with today's newest versions instead of the pinned ones, and says what
// differs. The pinned ones pass in every `npm run proofs`, so whatever fails here is news. `--pin` writes the newest versions
// into test/agents/programs.json once everything passes; names of test files choose some of them.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { installIfNeeded, root } from "./install-if-needed.mjs";

const LIST = join(root, "test", "agents", "programs.json");
const TESTS = ["programs", "listings", "plugin", "switching", "obedience"].map(
  (name) => `test/agents/${name}.test.ts`,
);

const pins = process.argv.includes("--pin");
const named = process.argv.slice(2).filter((one) => !one.startsWith("--"));

if (!installIfNeeded()) process.exit(1);
const pinned = JSON.parse(readFileSync(LIST, "utf8"));
const newest = Object.fromEntries(
  Object.entries(pinned).map(([name, program]) => [name, { ...program, version: newestOf(program.package) }]),
);
for (const [name, { version }] of Object.entries(newest)) {
  const was = pinned[name].version;
  console.log(`${name.padEnd(9)} ${was.padEnd(9)} ${was === version ? "is the newest" : `-> ${version}`}`);
}
const isNews = Object.keys(pinned).some((name) => pinned[name].version !== newest[name].version);
if (!isNews && named.length === 0)
  console.log("Every pinned program is the newest; `npm run proofs` runs them.");
else process.exitCode = tryNewest();

function tryNewest() {
  const folder = mkdtempSync(join(tmpdir(), "pawl-agents-"));
  const [list, report] = [join(folder, "programs.json"), join(folder, "report.json")];
  try {
    writeFileSync(list, JSON.stringify(newest));
    spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" });
    const words = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    spawnSync(
      join(root, "node_modules", ".bin", "vitest"),
      [...words, ...(named.length > 0 ? named : TESTS)],
      {
        cwd: root,
        env: { ...process.env, PAWL_TEST_PROGRAMS_LIST: list },
        stdio: "inherit",
        shell: process.platform === "win32",
      },
    );
    return tell(existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(result) {
  if (!result) {
    console.log("The tests could not be run.");
    return 1;
  }
  const failed = result.testResults.flatMap(({ name, assertionResults, message }) =>
    assertionResults.length === 0 && message
      ? [`${relative(root, name)}: ${message.split("\n")[0]}`]
      : assertionResults
          .filter(({ status }) => status === "failed")
          .map(({ fullName, failureMessages: [why = ""] }) => `${fullName}: ${why.split("\n")[0]}`),
  );
  console.log(`\n${result.numPassedTests} passed, ${failed.length} differ from the pinned versions`);
  for (const one of failed) console.log(`  ${one}`);
  if (failed.length > 0 || result.numPassedTests === 0) return 1;
  if (pins) writeFileSync(LIST, `${JSON.stringify(newest, null, 2)}\n`);
  console.log(pins ? "They are pinned now." : "`npm run agents:latest -- --pin` pins them.");
  return 0;
}

function newestOf(name) {
  return execFileSync("npm", ["view", name, "version"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  }).trim();
}
