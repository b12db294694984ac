// @module-tag proof
import { cpSync, existsSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { hammer } from "../helpers/hammer.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { complaintsOf, inspectStore } from "../helpers/store-verifier.ts";
import {
  askStateGit,
  makeRepository,
  makeTemporaryFolder,
  stateGitDirOf,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob, startNode } from "../helpers/worker-process.ts";

let root: string;
let worker: string;
let hammerWorker: string;

beforeAll(async () => {
  root = makeTemporaryFolder("concurrency");
  const helpers = join(import.meta.dirname, "../helpers");
  worker = await bundleProgram(join(helpers, "operation-worker.ts"), root, "worker");
  hammerWorker = await bundleProgram(join(helpers, "hammer-worker.ts"), root, "hammer");
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const EIGHT = Array.from({ length: 8 }, (_, number) => number);

const newTask = (repository: TemporaryRepository, title: string) =>
  runJob(worker, repository, { operation: "task.new", input: { title } });

async function makeUsedRepository(name: string, tasks: number): Promise<TemporaryRepository> {
  const repository = makeRepository(root, name);
  for (let number = 1; number <= tasks; number++)
    expect(await newTask(repository, `shared ${number}`)).toMatchObject({ ok: true });
  return repository;
}

/** Every move of the branch added one commit to what was there, and nobody left a lock. */
function expectLinearHistory(repository: TemporaryRepository): void {
  expect(askStateGit(repository, "fsck", "--no-dangling", "--no-progress")).toBe("");
  const parents = askStateGit(repository, "log", "--format=%p", "pawl/state").split("\n");
  expect(parents.every((line) => /^[0-9a-f]*$/.test(line))).toBe(true);
  const moves = askStateGit(repository, "reflog", "show", "--format=%H", "pawl/state").split("\n");
  expect(moves).toEqual(askStateGit(repository, "rev-list", "pawl/state").split("\n"));
  const left = readdirSync(stateGitDirOf(repository), { recursive: true }).map(String);
  expect(left.filter((path) => path.endsWith(".lock") || path.startsWith("pawl-index-"))).toEqual([]);
}

function expectAllCommitted(repository: TemporaryRepository): void {
  const committed = askStateGit(repository, "ls-tree", "-r", "--name-only", "pawl/state").split("\n");
  const paths = inspectStore(stateOf(repository)).records.map((record) => record.path);
  expect(committed).toEqual(expect.arrayContaining(paths));
}

describe("eight processes on one store", () => {
  test("with kill -9 at random: nothing is lost, done twice, torn or stuck", {
    tags: ["long"],
    timeout: 200_000,
  }, async () => {
    const repository = await makeUsedRepository("hammered", 3);
    const result = await hammer({
      ...{ worker: hammerWorker, repository, diaries: join(root, "diaries") },
      ...{ processes: 8, operations: 40, kills: 12, shared: ["T0001", "T0002", "T0003"] },
      ...{ commitEvery: 10, deadlineMs: 150_000 },
    });
    const { operations, acknowledged, kills, lost, duplicated, stuck, gaveUp, store } = result;
    expect({ lost, duplicated, stuck, ...complaintsOf(store) }).toEqual({
      lost: [],
      duplicated: [],
      stuck: [],
    });
    expect(acknowledged).toBe(operations);
    expect(operations).toBe(320);
    expect(kills).toBeGreaterThanOrEqual(8);
    // A lock that had to be waited out after a kill would make all seven others give up each time.
    expect(gaveUp.length).toBeLessThan(kills);
    expect(await newTask(repository, "the last one")).toMatchObject({ ok: true, warnings: [] });
    expectAllCommitted(repository);
  });

  test("that all write for the very first time make one state repository and eight tasks", async () => {
    for (let round = 0; round < 3; round++) {
      const repository = makeRepository(root, `fresh ${round}`);
      const reports = await Promise.all(EIGHT.map((number) => newTask(repository, `first ${number}`)));
      expect(reports.map((report) => report?.ok)).toEqual(EIGHT.map(() => true));
      const { records, violations } = inspectStore(stateOf(repository));
      expect(complaintsOf(violations)).toEqual({});
      expect(records.map((record) => record.id).sort()).toEqual(EIGHT.map((number) => `T000${number + 1}`));
      expect(new Set(records.map((record) => record.value.title)).size).toBe(8);
      expect(readdirSync(join(stateOf(repository), "events"))).toHaveLength(1);
      expect(
        readdirSync(join(repository.path, ".git", "pawl")).filter((name) => name.startsWith("state")),
      ).toEqual(["state.git"]);
      expectLinearHistory(repository);
      expectAllCommitted(repository);
    }
  }, 120_000);

  test("that all commit a milestone at once: each record is in the history, which is one line", {
    timeout: 120_000,
  }, async () => {
    const repository = await makeUsedRepository("milestones", 8);
    const before = Number(askStateGit(repository, "rev-list", "--count", "pawl/state"));
    const rounds = 3;
    for (let round = 0; round < rounds; round++) {
      const input = (number: number) => ({ task: `T000${number + 1}`, title: `round ${round}` });
      const reports = await Promise.all(
        EIGHT.map((number) => runJob(worker, repository, { operation: "task.update", input: input(number) })),
      );
      expect(reports.map((report) => report?.ok && report.warnings)).toEqual(EIGHT.map(() => []));
    }
    expectLinearHistory(repository);
    for (const number of EIGHT)
      expect(askStateGit(repository, "show", `pawl/state:tasks/T000${number + 1}/task.md`)).toContain(
        `title: round ${rounds - 1}`,
      );
    const after = Number(askStateGit(repository, "rev-list", "--count", "pawl/state"));
    expect(after).toBeGreaterThanOrEqual(before + rounds);
    expect(complaintsOf(inspectStore(stateOf(repository)).violations)).toEqual({});
  });
});

describe("a process that sleeps for hours before it gets the lock", () => {
  test("still does its work, although others have swept its staged files", async () => {
    const repository = await makeUsedRepository("asleep", 1);
    const job = { cwd: repository.path, operation: "task.new", input: { title: "slept" }, suspendAt: "look" };
    const { child, ending } = startNode(repository, [worker, JSON.stringify(job)]);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const staging = join(stateOf(repository), ".local", "tmp");
    const [staged = ""] = readdirSync(staging);
    utimesSync(join(staging, staged), new Date(0), new Date(0));
    const meanwhile = { operation: "note.add", input: { title: "meanwhile" } };
    expect(await runJob(worker, repository, meanwhile)).toMatchObject({ ok: true, warnings: [] });
    expect(existsSync(join(staging, staged))).toBe(false);
    child.kill("SIGCONT");
    const report = JSON.parse((await ending).out.trim().split("\n").at(-1) ?? "") as Report;
    expect(report).toMatchObject({ ok: true, data: { task: { id: "T0002" } } });
    const { records, violations } = inspectStore(stateOf(repository));
    expect(complaintsOf(violations)).toEqual({});
    expect(records.map((record) => record.value.title).sort()).toEqual(["meanwhile", "shared 1", "slept"]);
  });
});

describe("a copied repository", () => {
  test("is a clone of its own from its first command on", async () => {
    const repository = await makeUsedRepository("original", 1);
    const copy = { ...repository, path: join(root, "copy") };
    cpSync(repository.path, copy.path, { recursive: true, preserveTimestamps: true });
    const input = { task: "T0001", files: ["README.md"] };
    expect(await runJob(worker, copy, { operation: "touch", input })).toMatchObject({ ok: true });
    const { records, violations } = inspectStore(stateOf(copy));
    expect(complaintsOf(violations)).toEqual({});
    const clones = readdirSync(join(stateOf(copy), "events"));
    expect(clones).toHaveLength(2);
    const touched = records.find((record) => record.kind === "touched")?.id.replace("T0001/touched/", "");
    expect(clones).toContain(touched);
    expect(readdirSync(join(stateOf(repository), "events"))).not.toContain(touched);
  });
});
