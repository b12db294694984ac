// The long forms of the tests that kill at random and that run many agents at once:
//   npm run soak                      launchers, supervisors and guards are killed for five minutes
//   npm run soak -- vendors           ten runs of three vendors at once, for ten minutes
//   npm run soak -- together          ten single runs, pipelines and managers at once with random kills, for an hour
//   npm run soak -- steps             kill -9 at every single step of starting, stopping and settling a run, and of what a manager does
//   npm run soak -- page              kill -9 at every single step of an approval on the page, typed and signed
//   npm run soak -- rows              every row of the guard's matrix with a newer git and where refs lie in tables
//   npm run soak -- claims            25 tasks × 8 clones race for claims; kill -9 at every step of taking and giving back
//   npm run soak -- kills 60          for so many seconds
// Each prints what it did and what it found, and fails where anything was lost.
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";

const SOAKS = {
  claims: { file: "test/crash/claim-crash.test.ts", seconds: 900 },
  kills: { file: "test/agents/chaos.test.ts", seconds: 300 },
  rows: { file: "test/guard/matrix", seconds: 600 },
  steps: { file: ["test/crash/run-crash.test.ts", "test/crash/manager-crash.test.ts"], seconds: 600 },
  page: { file: "test/crash/page-crash.test.ts", seconds: 600 },
  together: { file: "test/agents/together.test.ts", seconds: 3_600 },
  vendors: { file: "test/agents/ten-at-once.test.ts", seconds: 600 },
};

const [name = "kills", wanted] = process.argv.slice(2);
const soak = SOAKS[name];
const seconds = wanted === undefined ? soak?.seconds : Number(wanted);
if (!soak || !(seconds > 0)) {
  process.stderr.write(`npm run soak -- [${Object.keys(SOAKS).join("|")}] [SECONDS]\n`);
  process.exitCode = 3;
} else {
  const vitest = join(root, "node_modules", ".bin", "vitest");
  const env = { ...process.env, PAWL_SOAK_SECONDS: String(seconds), PAWL_SOAK: "1" };
  const ok =
    installIfNeeded() && step(`${name}, ${seconds} s`, vitest, ["run", ...[soak.file].flat()], root, env);
  process.exitCode = ok ? 0 : 1;
}
