// @module-tag proof
import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { search } from "../../src/store/search/search.ts";
import { document, leftOvers, makeHome, Records } from "./search-fixture.ts";

const run = promisify(execFile);
const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;

let bundle: string;
let child: string;
let home: string;
let dir: string;
let records: Records;

beforeAll(async () => {
  bundle = mkdtempSync(join(tmpdir(), "pawl search child "));
  child = join(bundle, "child.cjs");
  symlinkSync(resolve("node_modules"), join(bundle, "node_modules"));
  const input = join(import.meta.dirname, "search-child.ts");
  await build({
    input,
    platform: "node",
    logLevel: "silent",
    output: { dir: bundle, entryFileNames: "child.cjs", format: "cjs" },
  });
});

afterAll(() => rmSync(bundle, { recursive: true, force: true, maxRetries: 3 }));

beforeEach(() => {
  home = makeHome();
  dir = join(home, "index dir");
  records = new Records(home);
});

afterEach(() => rmSync(join(home, ".."), { recursive: true, force: true, maxRetries: 3 }));

function fill(count: number, words = "alpha beta gamma delta ") {
  for (let index = 0; index < count; index++)
    records.put(`${index}.md`, document(`T${index}`, `alpha ${index}`, words.repeat(1 + (index % 9))));
}

async function find(words: string) {
  const started = performance.now();
  const answer = await search({ dir, source: records, query: { words }, now: Date.now(), oneShot: false });
  expect(performance.now() - started).toBeLessThan(10_000);
  return answer;
}

test("the bundle answers as the source does, and keeps the engine outside", async () => {
  fill(5);
  const { stdout, stderr } = await run(process.execPath, [child, "once", home, dir, "alpha"], { env });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual(await find("alpha"));
});

test("processes that keep the index open while others publish: nothing torn, nothing old", {
  timeout: 120_000,
}, async () => {
  fill(200);
  records.put("w.md", document("W", "alpha version0", "version0"));
  await find("alpha");
  const start = (task: string) =>
    run(process.execPath, [child, task, home, dir, "201"], { env, timeout: 90_000 });
  const [, ...readers] = await Promise.all([start("publish"), start("stay"), start("stay"), start("stay")]);
  for (const { stdout } of readers) expect(Number(stdout)).toBeGreaterThan(5);
  expect(leftOvers(dir)).toEqual([]);
});

describe("kill -9", () => {
  test("at every call of the source: the next search answers, and refreshes", {
    timeout: 180_000,
  }, async () => {
    const crashAt = (step: number) => {
      const at = mkdtempSync(join(home, "crash "));
      const source = new Records(at);
      for (let index = 0; index < 4; index++) source.put(`${index}.md`, document(`T${index}`, "alpha"));
      const index = join(at, "index dir");
      const result = spawnSync(process.execPath, [child, "crash", at, index, String(step)], {
        env,
        encoding: "utf8",
      });
      return { result, source, index };
    };
    const steps = Number(crashAt(0).result.stdout);
    expect(steps).toBeGreaterThan(8);

    const seen = new Set<string>();
    for (let step = 1; step <= steps; step++) {
      const { result, source, index } = crashAt(step);
      expect(result.signal).toBe("SIGKILL");
      const before = readdirSync(index);
      for (const name of leftOvers(index)) seen.add(name.startsWith("readers/") ? "reader" : "build");
      const options = { dir: index, source, query: { words: "alpha" }, now: Date.now(), oneShot: false };
      expect([step, (await search(options)).total]).toEqual([step, 4]);
      source.put("9.md", document("T9", "alpha"));
      expect((await search(options)).total).toBe(5);
      expect(readdirSync(index)).toEqual(expect.arrayContaining(["index.sqlite", ...before]));
      expect(readdirSync(join(index, "index.lock"))).toEqual([]);
    }
    expect([...seen]).toEqual(["build"]);
  });

  test("at random moments of readers and of builders: nobody else is held up", {
    tags: ["long"],
    timeout: 240_000,
  }, async () => {
    fill(300);
    await new Promise((settle) => setTimeout(settle, 2_100));
    const expected = await find("alpha");
    expect(expected.total).toBe(300);
    let killedReaders = 0;
    let unfinishedBuilds = 0;
    for (let round = 0; round < 24; round++) {
      const isBuilder = round % 2 === 1;
      const index = join(dir, "index.sqlite");
      const before = statSync(index).ino;
      if (isBuilder) rmSync(index);
      const victim = spawn(process.execPath, [child, "loop", home, dir, "alpha"], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      await new Promise((ready) => victim.stdout.once("data", ready));
      await new Promise((wait) => setTimeout(wait, Math.random() * (isBuilder ? 160 : 400)));
      const ended = new Promise((end) => victim.once("exit", end));
      victim.kill("SIGKILL");
      await ended;
      const left = leftOvers(dir);
      killedReaders += left.filter((name) => name.startsWith("readers/")).length;
      unfinishedBuilds += left.filter((name) => name.includes(".build-")).length;
      expect(await find("alpha")).toEqual(expected);
      // Otherwise each killed reader would cost the next one a new index, and nobody would notice.
      if (!isBuilder) expect(statSync(index).ino).toBe(before);
    }
    // Node's own SQLite does not lock by names, and leaves none.
    if (!process.getBuiltinModule?.("node:sqlite" as "node:fs")) expect(killedReaders).toBeGreaterThan(0);
    expect(unfinishedBuilds).toBeGreaterThan(0);

    const longAfter = Date.now() + 11 * 60_000;
    records.put("0.md", document("T0", "alpha afterwards"));
    await search({ dir, source: records, query: { words: "alpha" }, now: longAfter, oneShot: false });
    expect(leftOvers(dir)).toEqual([]);
  });
});

test("two writers and six readers: no error, nothing torn, every write found at once", {
  timeout: 240_000,
}, async () => {
  fill(200);
  for (const writer of [1, 2])
    records.put(`w${writer}.md`, document(`W${writer}`, "alpha version0", "version0 ".repeat(50)));
  await find("alpha");
  const start = (task: string, detail: string) =>
    run(process.execPath, [child, task, home, dir, detail], { env });
  const processes = [
    start("write", "1"),
    start("write", "2"),
    ...Array.from({ length: 6 }, () => start("read", "202")),
  ];
  const outcomes = await Promise.allSettled(processes);
  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.stderr : "ok"))).toEqual(
    Array.from({ length: 8 }, () => "ok"),
  );
  const { hits } = await find("version25");
  expect(hits.map((hit) => hit.id)).toEqual(["W1", "W2"]);
  expect(leftOvers(dir)).toEqual([]);
});
