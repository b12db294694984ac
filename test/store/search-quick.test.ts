import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NeedsFullYaml } from "../../src/model/record.ts";
import { answerByEngine } from "../../src/store/search/engine.ts";
import { answerQuickly } from "../../src/store/search/quick.ts";
import { search } from "../../src/store/search/search.ts";
import type { SearchQuery } from "../../src/store/search/types.ts";
import { parseWords } from "../../src/store/search/words.ts";
import { document, makeHome, Records } from "./search-fixture.ts";

let home: string;
let dir: string;
let quick: string;
let records: Records;

beforeEach(() => {
  home = makeHome();
  dir = join(home, "index dir");
  quick = join(dir, "index.quick");
  records = new Records(home);
});

afterEach(() => rmSync(join(home, ".."), { recursive: true, force: true }));

interface Where {
  source?: Records;
  at?: string;
}

/** Long after the files were written, so that their signatures are trusted. */
const options = (query: SearchQuery, { source = records, at = dir }: Where = {}) => ({
  dir: at,
  source,
  query,
  now: Date.now() + 60_000,
  oneShot: false,
});
const find = (words: string, where?: Where) => search(options({ words, limit: 100 }, where));
const wordsOf = (query: SearchQuery) => parseWords(query.words, query.match ?? "all");

/** undefined when the quick way does not answer. */
function ask(query: SearchQuery, where?: Where) {
  const outcome = answerQuickly(options(query, where), wordsOf(query));
  return outcome && "answer" in outcome ? outcome.answer : undefined;
}

const askEngine = (query: SearchQuery, where?: Where) =>
  answerByEngine(options(query, where), wordsOf(query), undefined);

function expectSameAnswer(query: SearchQuery, where?: Where) {
  const given = ask(query, where);
  const expected = askEngine(query, where);
  const plain = (answer: typeof given) => ({
    total: answer?.total,
    hits: answer?.hits.map(({ score: _score, ...hit }) => hit),
  });
  expect([query, plain(given)]).toEqual([query, plain(expected)]);
  for (const [index, { score }] of expected.hits.entries())
    expect(Math.abs((given?.hits[index]?.score ?? 0) - score)).toBeLessThan(1e-9);
}

const NAMES = ["src/store/lock.ts", "T0012/F3", "T0012", "fooBar", "--no-verify", "foo_bar", "HTTPServer"];
const WORDS = [
  "retry",
  "retries",
  "retrying",
  "upload",
  "uploads",
  "uploader",
  "lock",
  "store",
  "foo",
  "bar",
  "ts",
];
const FOREIGN = ["idT0012", "naïve", "日本語", "lock日本", "🙂", "Ünlock", "a\u0301", "x".repeat(70)];
const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...FOREIGN) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);
const phrase = (most: number) => fc.array(word, { maxLength: most }).map((list) => list.join(" "));
const someDocument = fc.record({
  id: fc.constantFrom("T0012", "T0012/F3", "T0012/F4", "T0013", "N0001", "N0002"),
  title: phrase(4),
  text: phrase(25),
  kind: fc.constantFrom("task", "note", "finding"),
  status: fc.constantFrom("open", "done", null),
  task: fc.constantFrom("T0012", "T0013", null),
});
const someQuery: fc.Arbitrary<SearchQuery> = fc.record(
  {
    words: fc
      .array(
        fc.constantFrom(...WORDS, ...NAMES, "upl", "stor", "fo", "src/store/lo", "LOCKED", "t0012/f", "zzz"),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((list) => list.join(" ")),
    match: fc.constantFrom("all" as const, "any" as const),
    limit: fc.constantFrom(1, 2, 5, 20, 1_000),
    kinds: fc.subarray(["task", "note"]),
    statuses: fc.subarray(["open", "done"]),
    task: fc.constantFrom("T0012", "T0013", "T9"),
  },
  { requiredKeys: ["words"] },
);

test("any query gets the engine's answer, from a built and from a refreshed index", {
  timeout: 240_000,
}, async () => {
  let round = 0;
  const documents = fc.array(someDocument, { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(someDocument, { maxLength: 5 }),
      fc.array(someQuery, { minLength: 20, maxLength: 20 }),
      async (first, second, queries) => {
        const root = join(home, `round ${round++}`);
        const where = { source: new Records(root), at: join(root, "index") };
        // Twins score alike, so that the order is decided by time and id.
        const put = (list: typeof first) => {
          for (const [index, more] of list.entries())
            for (const updated of ["2026-01-01", "2026-01-03"])
              where.source.put(`${index} ${updated}.md`, document("", "", "", { ...more, updated }));
        };
        put(first);
        await find("lock", where);
        for (const query of queries) expectSameAnswer(query, where);
        put(second);
        if (first.length > 6) where.source.remove("6 2026-01-03.md");
        await find("lock", where);
        for (const query of queries.slice(0, 8)) expectSameAnswer(query, where);
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

test("a phrase spans neither columns nor records", async () => {
  records.put("a.md", document("T1", "alpha foo", "bar then foo"));
  records.put("b.md", document("bar", "beta", "gamma"));
  records.put("c.md", document("T3", "foo bar", "gamma"));
  await find("alpha");
  for (const words of ["foo_bar", "foo_ba", "foo_bar gamma"]) expectSameAnswer({ words });
  expect(ask({ words: "foo_bar" })?.total).toBe(1);
});

describe("what has changed is never answered from the side file", () => {
  beforeEach(async () => {
    for (let id = 0; id < 20; id++) records.put(`${id}.md`, document(`T${id}`, `alpha ${id}`, "beta"));
    await find("alpha");
    expect(ask({ words: "alpha" })?.total).toBe(20);
  });

  test.each<[string, number, () => void]>([
    ["a write of ours", 21, () => records.put("new.md", document("T99", "alpha"))],
    ["an edit by hand", 19, () => records.editByHand("3.md", document("T3", "other"))],
    ["a deleted record", 19, () => rmSync(join(home, "records", "3.md"))],
    ["a record that broke", 19, () => writeFileSync(join(home, "records", "3.md"), "broken")],
  ])("%s", async (_name, total, change) => {
    change();
    expect(ask({ words: "alpha" })).toBeUndefined();
    expect((await find("alpha")).total).toBe(total);
    expect(ask({ words: "alpha" })?.total).toBe(total);
  });

  test("a generation whose side file was not written any more", async () => {
    const old = readFileSync(quick);
    records.put("new.md", document("T99", "alpha"));
    await find("alpha");
    writeFileSync(quick, old);
    records.changedSince = (cursor) => ({ paths: [], cursor });
    records.scan = () => new Map(Object.entries(JSON.parse(signaturesIn(old))));
    expect(ask({ words: "alpha" })).toBeUndefined();
  });

  function signaturesIn(file: Buffer): string {
    const header = /\{"generation".*$/s.exec(file.toString("latin1"))?.[0] ?? "";
    const { from, length } = JSON.parse(header).sections.signatures;
    return file.subarray(from, from + length).toString("utf8");
  }

  test("words that only the engine understands are left to it", () => {
    for (const words of ["naïve", "日本", "x".repeat(61)]) expect(ask({ words })).toBeUndefined();
  });
});

test("files that were too young, or touched only, do not keep the engine busy for ever", async () => {
  for (let id = 0; id < 5; id++) records.put(`${id}.md`, document(`T${id}`, "alpha"));
  await search({ ...options({ words: "alpha" }), now: Date.now() });
  expect(ask({ words: "alpha" })).toBeUndefined();
  await find("alpha");
  expect(ask({ words: "alpha" })?.total).toBe(5);
  records.put("1.md", document("T1", "alpha"));
  await find("alpha");
  expect(ask({ words: "alpha" })?.total).toBe(5);
});

describe("damage", () => {
  const query = { words: "alpha bet", limit: 3 };
  let whole: Buffer;
  beforeEach(async () => {
    for (let id = 0; id < 12; id++)
      records.put(`${id}.md`, document(`T${id}`, `alpha ${id}`, `beta ${"gamma ".repeat(id)}`));
    await find("alpha");
    whole = readFileSync(quick);
  });

  test("a file cut anywhere is not used, and made anew", async () => {
    const expected = askEngine(query);
    for (let length = 0; length < whole.length; length += 7) {
      truncateSync(quick, length);
      expect([length, ask(query)]).toEqual([length, undefined]);
      writeFileSync(quick, whole);
    }
    truncateSync(quick, 500);
    expect(await search(options(query))).toEqual(expected);
    expect(ask(query)).toBeDefined();
  });

  test("no changed byte changes an answer, wherever it is", async () => {
    const expected = ask(query);
    expect(expected?.total).toBe(12);
    let noticed = 0;
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      writeFileSync(quick, bytes);
      const given = ask(query);
      if (given) expect([at, given]).toEqual([at, expected]);
      else noticed++;
    }
    expect(noticed).toBeGreaterThan(whole.length / 3);
    writeFileSync(quick, Buffer.from(whole).fill(0, 64, 300));
    expect(await search(options(query))).toEqual(askEngine(query));
    expect(await search(options(query))).toEqual(expected);
    expect(ask(query)).toEqual(expected);
  });
});

describe("a record that needs the full parser", () => {
  const needsParser = (path: string) => {
    records.counts.read++;
    throw new NeedsFullYaml(path);
  };

  test.each(["while building", "while refreshing"])(
    "%s: said at once, and nothing stays locked",
    async (when) => {
      for (let id = 0; id < 5; id++) records.put(`${id}.md`, document(`T${id}`, "alpha"));
      if (when === "while refreshing") await find("alpha");
      records.put("1.md", document("T1", "alpha by hand"));
      records.counts.read = 0;
      const read = records.read;
      records.read = needsParser;
      await expect(find("alpha")).rejects.toThrow(NeedsFullYaml);
      expect(records.counts.read).toBe(1);
      expect(readdirSync(join(dir, "readers"))).toEqual([]);
      expect(readdirSync(join(dir, "index.lock"))).toEqual([]);
      records.read = read;
      expect((await find("alpha")).total).toBe(5);
    },
  );
});

test("building an index of many records is announced once, of few not at all", async () => {
  const said: string[] = [];
  const run = (at: string) =>
    search({ ...options({ words: "alpha" }, { at }), progress: (message) => void said.push(message) });
  for (let id = 0; id < 2_000; id++) records.editByHand(`${id}.md`, document(`T${id}`, "alpha"));
  await run(dir);
  expect(said).toEqual([]);
  records.editByHand("more.md", document("T9999", "alpha"));
  for (const at of [join(home, "other"), join(home, "other"), "/proc/pawl"]) await run(at);
  const message = "building the search index of 2001 records …";
  expect(said).toEqual([message, message]);
  expect(statSync(join(home, "other", "index.quick")).isFile()).toBe(true);
});
