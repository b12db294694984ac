import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Job, Report } from "../helpers/operation-worker.ts";
import {
  copyReady,
  gitIn,
  inspect,
  makeReady,
  placeTarget,
  type Ready,
  type Target,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

let folder: string;
let worker: string;
const prepared = new Map<1 | 2, Ready>();
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("approve crash");
  const entry = fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, folder, "worker");
  for (const count of [1, 2] as const)
    prepared.set(count, await makeReady(join(folder, `ready ${count}`), count));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

function fresh(count: 1 | 2, target: Target): Ready {
  const ready = copyReady(prepared.get(count) as Ready, join(folder, `copy ${++copies}`));
  placeTarget(ready, target);
  return ready;
}

const job = (ready: Ready, what: Omit<Job, "cwd">) => runJob(worker, ready.repos[0] as never, what);
const APPROVE = { operation: "approve", input: { task: "T1" }, typed: "T0001" };
const NEXT = { operation: "note.add", input: { title: "the next command" } };

function recordOf(ready: Ready, path: string): string {
  const file = join(stateOf(ready.repos[0] as never), "tasks/T0001", path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function phasesOf(ready: Ready, record: string): string[] {
  const events = join(stateOf(ready.repos[0] as never), "events");
  return readdirSync(events, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(events, name), "utf8").split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as { record: string; phase: string })
    .filter((event) => event.record.startsWith(`${record}@`))
    .map((event) => event.phase);
}

const statusOf = (text: string) => /^status: (\w+)$/m.exec(text)?.[1];

/** The records say what git says, and nothing is left of the interrupted one; answers whether it is merged. */
function expectTruth(ready: Ready, target: Target, context: string): boolean {
  const { merged, complaints } = inspect(ready, target);
  expect(complaints, context).toEqual([]);
  const said = [
    recordOf(ready, "task.md"),
    recordOf(ready, "findings/F1.md"),
    recordOf(ready, "approvals/A1.md"),
  ];
  const [task, finding, approval] = said.map(statusOf);
  expect([task, finding], context).toEqual(merged ? ["merged", "integrated"] : ["active", "fixed"]);
  expect(merged ? ["merged"] : [undefined, "rolled_back"], context).toContain(approval);
  for (const repo of merged ? ready.repos : [])
    expect(said[2], context).toContain(repo.git("rev-parse", "main"));
  // The log of events tells the same story: said before it was done, and after it was done or had failed.
  const phases = merged ? [["before", "after"]] : [[], ["before", "failed"]];
  expect(phases, context).toContainEqual(phasesOf(ready, "T0001/A1"));
  return merged;
}

/** A few at a time: the machine has two cores, and each of them starts processes of its own. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all([lane(), lane(), lane()]);
}

async function stepsOf(count: 1 | 2, target: Target): Promise<string[]> {
  const ready = fresh(count, target);
  const report = (await job(ready, APPROVE)) as Report;
  expect(report).toMatchObject({ ok: true });
  expect(expectTruth(ready, target, "uninterrupted")).toBe(true);
  return report.steps;
}

describe("kill -9 of the approver", () => {
  const variants: [count: 1 | 2, target: Target, which: RegExp][] = [
    [2, "main worktree", /./],
    [2, "linked worktree", /^merge-/],
    [1, "main worktree", /^merge-/],
    [1, "nowhere", /^merge-/],
  ];
  for (const [count, target, which] of variants)
    test(`${count} repositories, target in ${target}: merged wholly or not at all, at every step`, async () => {
      const names = await stepsOf(count, target);
      const moments = names
        .map((name, index) => ({ name, n: index + 1 }))
        .filter(({ name }) => which.test(name));
      expect(moments.length).toBeGreaterThan(target === "nowhere" ? 8 : 12);
      const outcomes: boolean[] = [];
      await each(moments, async ({ name, n }) => {
        const ready = fresh(count, target);
        const context = `killed at step ${n}, ${name}`;
        expect(await job(ready, { ...APPROVE, killAtStep: n }), context).toBeUndefined();
        expect(await job(ready, NEXT), context).toMatchObject({ ok: true });
        outcomes[n] = expectTruth(ready, target, context);
        if (!outcomes[n]) {
          expect(await job(ready, APPROVE), context).toMatchObject({ ok: true });
          expect(inspect(ready, target), context).toEqual({ merged: true, complaints: [] });
        }
        rmSync(ready.root, { recursive: true, force: true });
      });
      // Up to one moment every kill leaves nothing, and from then on every kill leaves all of it.
      const seen = outcomes.filter((one) => one !== undefined);
      expect(new Set(seen)).toEqual(new Set([false, true]));
      expect([...seen].sort()).toEqual(seen);
    }, 240_000);
});
