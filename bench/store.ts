/**
 * Eight processes work on one store while their parent kills them at random. Nothing acknowledged may be missing,
 * nothing may be there twice, and nothing may be torn or stuck. Started by scripts/bench.mjs in the project's folder.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleProgram } from "../test/helpers/bundle-program.ts";
import { type HammerResult, hammer } from "../test/helpers/hammer.ts";
import { makeRepository, makeTemporaryFolder } from "../test/helpers/temporary-repository.ts";
import { runJob } from "../test/helpers/worker-process.ts";

const PROCESSES = 8;
const OPERATIONS = 500;
const KILLS = 48;
const LEAST_KILLS = 40;
const SHARED = 6;
const COMMIT_EVERY = 20;
const DEADLINE_MS = 180_000;

async function bench(root: string): Promise<HammerResult> {
  const helpers = resolve("test/helpers");
  const once = await bundleProgram(join(helpers, "operation-worker.ts"), root, "once");
  const worker = await bundleProgram(join(helpers, "hammer-worker.ts"), root, "worker");
  const repository = makeRepository(root);
  const shared: string[] = [];
  for (let number = 1; number <= SHARED; number++) {
    const made = await runJob(once, repository, {
      operation: "task.new",
      input: { title: `shared ${number}` },
    });
    if (!made?.ok) throw new Error(`The shared tasks could not be made: ${made?.message}`);
    shared.push(made.data.task?.id ?? "");
  }
  return hammer({
    ...{ worker, repository, diaries: join(root, "diaries"), shared },
    ...{ processes: PROCESSES, operations: OPERATIONS, kills: KILLS },
    ...{ commitEvery: COMMIT_EVERY, deadlineMs: DEADLINE_MS },
  });
}

function print(result: HammerResult): boolean {
  const { store } = result;
  const guilty: [string, string[]][] = [
    ["lost updates", result.lost],
    ["applied twice", result.duplicated],
    ["duplicate ids", store.duplicateIds],
    ["torn records", store.torn],
    ["stuck", result.stuck],
    ["missing events", store.missingEvents],
    ["surplus events", store.surplusEvents],
    ["left over", store.leftOver],
  ];
  const rows: [string, string | number][] = [
    ["processes × operations", `${PROCESSES} × ${OPERATIONS}`],
    ["acknowledged", result.acknowledged],
    ["kills (kill -9)", result.kills],
    ["conflicts retried", result.conflicts],
    ["waits repeated", result.gaveUp.length],
    ...guilty.map(([name, found]): [string, number] => [name, found.length]),
    ["operations per second", Math.round(result.acknowledged / result.seconds)],
    ["seconds", result.seconds.toFixed(1)],
    ["state commits", `1 in ${COMMIT_EVERY} lifecycle operations`],
  ];
  for (const [name, value] of rows) console.log(`${name.padEnd(24)}${value}`);
  for (const [name, found] of guilty) for (const one of found.slice(0, 5)) console.error(`${name}: ${one}`);
  const complete = result.acknowledged === result.operations && result.kills >= LEAST_KILLS;
  const flowing = result.gaveUp.length < result.kills;
  return complete && flowing && guilty.every(([, found]) => found.length === 0);
}

const root = makeTemporaryFolder("bench");
try {
  if (!print(await bench(root))) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}
