// @module-tag again
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tryAcquire } from "../../src/files/intent-lock.ts";
import { search } from "../../src/store/search/search.ts";
import type { SearchQuery } from "../../src/store/search/types.ts";
import { runs } from "../helpers/long-runs.ts";
import { document, makeHome, Records } from "./search-fixture.ts";

let home: string;
let dir: string;
let records: Records;

beforeEach(() => {
  home = makeHome();
  dir = join(home, "index dir");
  records = new Records(home);
});

afterEach(() => rmSync(join(home, ".."), { recursive: true, force: true }));

interface Where {
  source?: Records;
  at?: string;
  now?: number;
}

async function find(words: string, { source = records, at = dir, now = Date.now() }: Where = {}) {
  const query: SearchQuery = { words, limit: 100 };
  return search({ dir: at, source, query, now, oneShot: false });
}

const ids = async (words: string, where?: Where) =>
  (await find(words, where)).hits.map((hit) => hit.id).sort();
/** With its times: what is written and taken back leaves the same bytes. */
function generation() {
  const path = join(dir, "index.sqlite");
  return `${createHash("sha256").update(readFileSync(path)).digest("hex")} ${statSync(path).mtimeMs}`;
}

/** Long after the files were written, so that their signatures are trusted. */
const later = () => Date.now() + 60_000;

describe("what was written is found", () => {
  test("additions, edits and removals of ours", async () => {
    records.put("a.md", document("T0001", "alpha"));
    expect(await ids("alpha")).toEqual(["T0001"]);
    records.put("b.md", document("T0002", "alpha"));
    expect(await ids("alpha")).toEqual(["T0001", "T0002"]);
    records.put("a.md", document("T0001", "beta"));
    expect([await ids("alpha"), await ids("beta")]).toEqual([["T0002"], ["T0001"]]);
    records.remove("b.md");
    expect([await ids("alpha"), await ids("beta")]).toEqual([[], ["T0001"]]);
  });

  test("edits by hand, a file that breaks, and one that is mended", async () => {
    records.put("a.md", document("T0001", "alpha"));
    expect(await ids("alpha", { now: later() })).toEqual(["T0001"]);
    records.editByHand("a.md", document("T0001", "beta"));
    records.editByHand("sub folder/b.md", document("T0002", "beta"));
    expect(await ids("beta", { now: later() })).toEqual(["T0001", "T0002"]);
    writeFileSync(join(home, "records", "a.md"), "broken");
    expect(await ids("beta", { now: later() })).toEqual(["T0002"]);
    records.editByHand("a.md", document("T0001", "gamma beta"));
    expect(await ids("beta", { now: later() })).toEqual(["T0001", "T0002"]);
    rmSync(join(home, "records", "a.md"));
    expect(await ids("beta", { now: later() })).toEqual(["T0002"]);
  });

  test("when the source cannot tell what was written, everything is compared", async () => {
    records.put("a.md", document("T0001", "alpha"));
    await find("alpha");
    records.changedSince = () => undefined;
    records.put("b.md", document("T0002", "alpha"));
    expect(await ids("alpha")).toEqual(["T0001", "T0002"]);
  });

  test("a rewrite with the same signature, while the file is young", async () => {
    const now = Date.now();
    const frozen = (age: number) => {
      const source = new Records(home);
      source.scan = () => new Map([["a.md", `${now - age} 100 7`]]);
      return source;
    };
    for (const [age, expected] of [
      [500, ["T0001"]],
      [5_000, []],
    ] as const) {
      const [source, at] = [frozen(age), join(home, `index ${age}`)];
      source.editByHand("a.md", document("T0001", "alpha"));
      expect(await ids("alpha", { source, at, now })).toEqual(["T0001"]);
      source.editByHand("a.md", document("T0001", "omega"));
      expect([age, await ids("omega", { source, at, now })]).toEqual([age, expected]);
    }
  });
});

describe("cost", () => {
  test("an unchanged store is neither read nor written again", async () => {
    for (let index = 0; index < 30; index++) records.put(`${index}.md`, document(`T00${index}`, "alpha"));
    await find("alpha", { now: later() });
    const before = generation();
    records.counts.read = 0;
    for (let round = 0; round < 3; round++) await find("alpha", { now: later() });
    expect(records.counts.read).toBe(0);
    expect(generation()).toBe(before);
  });

  test("one change costs one look at one file", async () => {
    for (let index = 0; index < 100; index++) records.put(`${index}.md`, document(`T00${index}`, "alpha"));
    await find("alpha", { now: later() });
    Object.assign(records.counts, { scan: 0, read: 0 });
    records.put("7.md", document("T007", "alpha beta"));
    expect((await find("alpha", { now: later() })).total).toBe(100);
    records.remove("8.md");
    expect((await find("alpha", { now: later() })).total).toBe(99);
    records.editByHand("9.md", document("T009", "beta"));
    expect((await find("alpha", { now: later() })).total).toBe(98);
    expect(records.counts).toEqual({ scan: 3, read: 2 });
  });

  test("files too young to be trusted are looked at again, and not for ever", async () => {
    for (let index = 0; index < 80; index++) records.put(`${index}.md`, document(`T00${index}`, "alpha"));
    await find("alpha");
    records.counts.read = 0;
    await find("alpha", { now: later() });
    expect(records.counts.read).toBe(80);
    await find("alpha", { now: later() });
    expect(records.counts.read).toBe(80);
  });

  test("more than 2,000 files are scanned only after a hundred times the time a scan takes", async () => {
    for (let index = 0; index < 2_001; index++)
      records.editByHand(`${index}.md`, document(`T${index}`, index === 5 ? "alpha" : "other"));
    const scan = records.scan.bind(records);
    records.scan = () => {
      const until = performance.now() + 50;
      while (performance.now() < until);
      return scan();
    };
    const start = later();
    expect(await ids("alpha", { now: start })).toEqual(["T5"]);
    records.editByHand("7.md", document("T7", "alpha"));
    records.put("8.md", document("T8", "alpha"));
    expect(await ids("alpha", { now: start + 4_000 })).toEqual(["T5", "T8"]);
    expect(records.counts.scan).toBe(1);
    expect(await ids("alpha", { now: start + 600_000 })).toEqual(["T5", "T7", "T8"]);
    expect(records.counts.scan).toBe(2);
    await find("alpha", { now: start + 600_001 });
    expect(records.counts.scan).toBe(2);
    await find("alpha", { now: start + 1_800_000 });
    expect(records.counts.scan).toBe(3);
    await find("alpha", { now: start + 1_800_001 });
    expect(records.counts.scan).toBe(3);
    await find("alpha", { now: start });
    expect(records.counts.scan).toBe(4);
  });
});

describe("while another process refreshes", () => {
  const release: (() => void)[] = [];
  afterEach(() => release.splice(0).forEach((free) => void free()));

  function holdLock() {
    const free = tryAcquire(join(dir, "index.lock"));
    if (!free) throw new Error("the lock is taken");
    release.push(free);
  }

  test("answers are the same as after a refresh, and the generation is not touched", async () => {
    for (let index = 0; index < 40; index++)
      records.put(
        `${index}.md`,
        document(`T${index}`, `alpha ${"beta ".repeat(index % 7)}`, "gamma ".repeat(index % 5)),
      );
    await find("alpha");
    const before = generation();
    holdLock();
    for (let index = 0; index < 20; index++)
      records.put(
        `${index * 3}.md`,
        document(`T${index * 3}`, `beta ${"alpha ".repeat(index % 4)}`, "delta ".repeat(200)),
      );
    records.remove("1.md");
    records.editByHand("2.md", document("T2", "alpha by hand"));
    const queries = ["alpha", "beta", "gamma", "alpha beta", "del"];
    const overlaid = await Promise.all(queries.map((words) => find(words)));
    expect(overlaid[0]?.total).toBeGreaterThan(20);
    expect(generation()).toBe(before);

    const fresh = await Promise.all(queries.map((words) => find(words, { at: join(home, "fresh") })));
    expect(overlaid).toEqual(fresh);
    release.splice(0).forEach((free) => void free());
    const refreshed = await Promise.all(queries.map((words) => find(words)));
    expect(generation()).not.toBe(before);
    expect(refreshed).toEqual(overlaid);
  });

  test("changes larger than SQLite's cache do not spill into the shared file either", async () => {
    records.put("a.md", document("T0001", "alpha"));
    await find("alpha");
    const before = generation();
    holdLock();
    for (let index = 0; index < 4; index++)
      records.put(`big${index}.md`, document(`B${index}`, "alpha", "delta ".repeat(150_000)));
    expect(await ids("alpha")).toEqual(["B0", "B1", "B2", "B3", "T0001"]);
    expect(generation()).toBe(before);
  });

  test("with no generation yet, nobody waits and nothing is written", async () => {
    records.put("a.md", document("T0001", "alpha"));
    holdLock();
    expect(await ids("alpha")).toEqual(["T0001"]);
    expect(readdirSync(dir)).toEqual(["index.lock"]);
  });
});

test("readers leave nothing behind", async () => {
  records.put("a.md", document("T0001", "alpha"));
  for (let round = 0; round < 3; round++) {
    records.put("a.md", document("T0001", `alpha ${round}`));
    await find("alpha");
  }
  expect(readdirSync(dir).sort()).toEqual(["index.lock", "index.sqlite", "readers"]);
  expect(readdirSync(join(dir, "readers"))).toEqual([]);
  expect(readdirSync(join(dir, "index.lock"))).toEqual([]);
  expect(statSync(join(dir, "index.sqlite")).nlink).toBe(1);
});

test("any sequence of changes gives the same hits in the same order as a fresh index", async () => {
  const words = ["alpha", "beta", "gamma", "delta", "Alphas", "betaGamma", "src/alpha.ts"];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(" "));
  const content = fc.record({
    title: text,
    text,
    updated: fc.constantFrom("2026-01-01", "2026-01-02"),
    kind: fc.constantFrom("task", "note"),
  });
  const step = fc.oneof(
    fc.record({ do: fc.constant("put" as const), file: fc.nat(6), content, byHand: fc.boolean() }),
    fc.record({ do: fc.constant("remove" as const), file: fc.nat(6) }),
    fc.record({ do: fc.constant("break" as const), file: fc.nat(6) }),
    fc.record({ do: fc.constant("search" as const) }),
  );
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const root = join(home, `round ${round++}`);
      const source = new Records(root);
      const [grown, built] = [join(root, "grown"), join(root, "built")];
      const present = new Set<number>();
      for (const action of steps) {
        if (action.do === "search") await find("alpha", { source, at: grown, now: later() });
        else if (action.do === "put") {
          const value = document(`T000${action.file}`, "", "", action.content);
          if (action.byHand) source.editByHand(`${action.file}.md`, value);
          else source.put(`${action.file}.md`, value);
          present.add(action.file);
        } else if (action.do === "remove" && present.delete(action.file)) source.remove(`${action.file}.md`);
        else if (action.do === "break" && present.has(action.file))
          writeFileSync(join(root, "records", `${action.file}.md`), "broken");
      }
      for (const query of ["alpha", "beta", "beta gam", "src/alpha.ts", "alpha delta"]) {
        const incremental = await find(query, { source, at: grown, now: later() });
        expect(incremental).toEqual(await find(query, { source, at: built, now: later() }));
      }
    }),
    runs(40),
  );
});
