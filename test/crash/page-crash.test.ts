import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDeciding } from "../../src/web/deciding.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Project } from "../helpers/command-line.ts";
import { copyReady, inspect, makeReady, type Ready, typing } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

/** What was approved on the page is what `pawl approve` does: killed anywhere, the next command leaves all of it or nothing. */
let folder: string;
let worker: string;
let prepared: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("page crash");
  const entry = fileURLToPath(new URL("../helpers/page-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, folder, "worker");
  prepared = await makeReady(join(folder, "ready"), 1);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copyReady(prepared, join(folder, `copy ${++copies}`));
const job = (ready: Ready, typed: string, killAtStep?: number) =>
  runJob(worker, ready.repos[0] as never, { typed, killAtStep } as never) as Promise<unknown>;

test("a yes on the terminal merges, anything else does not", async () => {
  const [yes, no] = [fresh(), fresh()];
  expect(await job(no, "yes")).toMatchObject({ status: 303, state: "refused" });
  expect(inspect(no, "main worktree")).toEqual({ merged: false, complaints: [] });
  expect(await job(yes, "T0001")).toMatchObject({ status: 303, state: "done" });
  expect(inspect(yes, "main worktree")).toEqual({ merged: true, complaints: [] });
});

test("the page's own word merges nothing where nobody has to sign", async () => {
  const ready = fresh();
  const nobody = { isTerminal: true, write: () => {}, onLine: () => {}, onEnter: () => {} };
  const terminal = openTerminal(nobody);
  const { path, env } = ready.repos[0] as Project;
  const around = { cwd: path, env, operations: [], oneShot: false, progress: () => {}, ask: terminal.ask };
  const { approve, underway } = openDeciding(around, terminal, () => {});
  approve("T0001", { push: false, byKey: true });
  await expect.poll(() => underway.of("T0001")?.state, { timeout: 30_000 }).toBe("refused");
  expect(underway.of("T0001")?.refusal?.code).toBe("not_signed");
  expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
});

test("killed on its way, it is merged or not, never half", async () => {
  const { steps } = (await job(fresh(), "T0001")) as { steps: string[] };
  // The command itself is killed at every single step; of the same way through the page every third one is enough.
  const moments = steps
    .flatMap((name, at) => (/^(?:look|create|confirm|decide|enter|release)/.test(name) ? [] : [at + 1]))
    .filter((_, at, all) => at % 3 === 0 || at === all.length - 1);
  const merged: boolean[] = [];
  for (const at of moments) {
    const ready = fresh();
    expect(await job(ready, "T0001", at), steps[at - 1]).toBeUndefined();
    expect((await typing(ready, {}, "note", "add", "the next command")).code, steps[at - 1]).toBe(0);
    const found = inspect(ready, "main worktree");
    expect(found.complaints, steps[at - 1]).toEqual([]);
    merged.push(found.merged);
    rmSync(ready.root, { recursive: true, force: true, maxRetries: 3 });
  }
  // Before a certain step nothing is, from then on everything.
  expect(merged).toEqual(merged.toSorted((one, other) => Number(one) - Number(other)));
  expect(new Set(merged).size).toBe(2);
}, 300_000);
