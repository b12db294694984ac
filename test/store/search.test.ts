// @module-tag again
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { search } from "../../src/store/search/search.ts";
import type { SearchQuery } from "../../src/store/search/types.ts";
import { runs } from "../helpers/long-runs.ts";
import { document, makeHome, Records } from "./search-fixture.ts";

let home: string;
let records: Records;

beforeEach(() => {
  home = makeHome();
  records = new Records(home);
});

afterEach(() => rmSync(join(home, ".."), { recursive: true, force: true }));

function find(words: string, query: Partial<SearchQuery> = {}, source: Records = records) {
  const dir = join(home, "index dir");
  return search({ dir, source, query: { words, ...query }, now: Date.now(), oneShot: false });
}

const ids = async (words: string, query: Partial<SearchQuery> = {}) =>
  (await find(words, query)).hits.map((hit) => hit.id);

describe("ranking", () => {
  test("a title counts far more than several mentions in a text", async () => {
    records.put(
      "a.md",
      document("T0001", "Clean up", "The lock here, the lock there, a lock and another lock."),
    );
    records.put(
      "b.md",
      document("T0002", "Replace the lock", "Something else entirely, of about the same length."),
    );
    expect(await ids("lock")).toEqual(["T0002", "T0001"]);
  });

  test("words are stemmed and accents do not matter", async () => {
    records.put("a.md", document("T0001", "Réviewing migrations", "naïve"));
    for (const words of ["review", "reviewed", "migration", "MIGRATING", "naive", "naïve"])
      expect([words, await ids(words)]).toEqual([words, ["T0001"]]);
  });

  test("all words must match, any of them with match: any, the fuller match first", async () => {
    records.put("a.md", document("T0001", "One", "alpha beta"));
    records.put("b.md", document("T0002", "Two", "alpha gamma"));
    records.put("c.md", document("T0003", "Three", "delta"));
    expect(await ids("alpha beta")).toEqual(["T0001"]);
    expect(await ids("alpha delta")).toEqual([]);
    const any = await find("beta alpha", { match: "any" });
    expect(any.hits.map((hit) => hit.id)).toEqual(["T0001", "T0002"]);
    expect(any.total).toBe(2);
    expect(any.hits[0]?.score).toBeGreaterThan(any.hits[1]?.score ?? 0);
  });

  test("the last word may be unfinished from three characters on, and the finished word ranks above", async () => {
    for (let other = 0; other < 8; other++)
      records.put(`${other}.md`, document(`N000${other}`, "x", "other words"));
    records.put("a.md", document("T0001", "x", "lockfiles of the thing"));
    records.put("b.md", document("T0002", "x", "a lock of another, longer, and even longer kind of thing"));
    expect(await ids("lock")).toEqual(["T0002", "T0001"]);
    expect((await ids("thing lockf")).sort()).toEqual(["T0001"]);
    expect((await ids("thing loc")).sort()).toEqual(["T0001", "T0002"]);
    expect(await ids("lo")).toEqual([]);
    expect(await ids("loc thing")).toEqual([]);
    expect(await ids("loc", { match: "any" })).toEqual([]);
  });

  test("an id finds its own record before the many that carry it as a prefix", async () => {
    for (let part = 1; part <= 5; part++)
      records.put(`f${part}.md`, document(`T0012/F${part}`, "Short", "x", { kind: "finding" }));
    records.put("t.md", document("T0012", "A long title that says a lot of things", "long text ".repeat(60)));
    records.put("o.md", document("T0013", "Other", "mentions T0012 and T0012/F3 once"));
    expect((await ids("T0012"))[0]).toBe("T0012");
    expect((await ids("t0012/f3"))[0]).toBe("T0012/F3");
    expect(await ids("T0012/F3")).toEqual(["T0012/F3", "T0013"]);
  });

  test("ties go to the latest, then to the smaller id, and the limit cuts after that", async () => {
    const updates = ["2026-01-03", "2026-01-01", "2026-01-03", "2026-01-02", "2026-01-04"];
    for (const [index, updated] of updates.entries())
      records.put(`${9 - index}.md`, document(`T000${index}`, "same", "same text", { updated }));
    const expected = ["T0004", "T0000", "T0002", "T0003", "T0001"];
    expect(await ids("same")).toEqual(expected);
    expect(await find("same", { limit: 2 })).toMatchObject({
      total: 5,
      hits: [{ id: "T0004" }, { id: "T0000" }],
    });
    for (const [index, text] of ["", "other", "other words"].entries())
      records.put(`x${index}.md`, document(`X${index}`, "different", text));
    expect(await ids("different", { limit: 2 })).toEqual(["X0", "X1"]);
    expect(await find("same", { limit: 0 })).toEqual({ hits: [], total: 0 });
  });
});

describe("filters", () => {
  beforeEach(() => {
    const add = (id: string, kind: string, status: string | null) =>
      records.put(`${id}.md`, document(id, "word", "", { kind, status }));
    add("T0001", "task", "open");
    add("T0001/F1", "finding", "closed");
    add("T0002", "task", "done");
    add("T0002/F1", "finding", "open");
    records.put("n.md", document("N0001", "word", "", { kind: "note", status: null, task: null }));
  });

  test.each<[Partial<SearchQuery>, string[]]>([
    [{}, ["N0001", "T0001", "T0001/F1", "T0002", "T0002/F1"]],
    [{ kinds: ["task"] }, ["T0001", "T0002"]],
    [{ kinds: ["task", "note"] }, ["N0001", "T0001", "T0002"]],
    [{ statuses: ["open"] }, ["T0001", "T0002/F1"]],
    [{ task: "T0002" }, ["T0002", "T0002/F1"]],
    [{ kinds: ["finding"], statuses: ["open", "closed"], task: "T0001" }, ["T0001/F1"]],
    [{ kinds: [], statuses: [] }, ["N0001", "T0001", "T0001/F1", "T0002", "T0002/F1"]],
    [{ kinds: ["'; DROP TABLE records; --"] }, []],
  ])("%j", async (query, expected) => {
    const { hits, total } = await find("word", query);
    expect(hits.map((hit) => hit.id).sort()).toEqual(expected);
    expect(total).toBe(expected.length);
  });
});

describe("identifiers are found as typed", () => {
  const text =
    "See src/store/lock.ts and foo_bar, then fooBar or HTTPServerError; never --no-verify. Run readHeader() @v1.2.3";

  test.each([
    ...[
      "src/store/lock.ts",
      "store/lock.ts",
      "lock.ts",
      "foo_bar",
      "fooBar",
      "foobar",
      "--no-verify",
      "readHeader()",
    ],
    ...["HTTPServerError", "server", "Header", "v1.2.3", "@v1.2.3", "src/store/lo", "bar"],
  ])("%s", async (words) => {
    records.put("a.md", document("T0001", "x", text));
    records.put(
      "b.md",
      document("T0002", "x", "verify the store, no src: ts lock first, then foo and 1 3 2"),
    );
    const found = await ids(words);
    expect(found[0]).toBe("T0001");
    if (/[/_-]/.test(words)) expect(found).toEqual(["T0001"]);
  });
});

test("a phrase spans neither columns nor records", async () => {
  records.put("a.md", document("T1", "alpha foo", "bar then foo"));
  records.put("b.md", document("bar", "beta", "gamma"));
  records.put("c.md", document("T3", "foo bar", "gamma"));
  for (const words of ["foo_bar", "foo_ba", "foo_bar gamma"]) expect(await ids(words)).toEqual(["T3"]);
});

describe("a query is words, never syntax", () => {
  test.each([
    ...[
      '"',
      '"unclosed',
      "alpha*",
      "NEAR(alpha beta)",
      "alpha AND",
      "OR",
      "NOT alpha",
      "-alpha",
      "(",
      "alpha)",
      "^alpha",
    ],
    ...[
      "title:alpha",
      "{title}: alpha",
      "alpha + beta",
      "🙂",
      "alpha 🙂",
      "\0",
      "al\0pha",
      "\ud800",
      "'; --",
      "%",
      "\\",
    ],
    ...["\u{1e900}", "alpha \u{16e40}", "a".repeat(10_000), "a/".repeat(5_000), "日本語", "alpha\u2028beta"],
  ])("%#: %.20j", async (words) => {
    records.put("a.md", document("T0001", "alpha", "beta"));
    const { hits, total } = await find(words);
    expect(hits).toHaveLength(total);
    expect((await find(words, { match: "any" })).total).toBeGreaterThanOrEqual(total);
  });

  test("operators are ordinary words", async () => {
    records.put("a.md", document("T0001", "alpha near and beta", ""));
    records.put("b.md", document("T0002", "alpha beta", ""));
    expect(await ids("alpha AND beta")).toEqual(["T0001"]);
    expect(await ids("alpha NEAR beta")).toEqual(["T0001"]);
    expect(await ids('"alpha" (beta)')).toHaveLength(2);
    expect(await ids("alpha 🙂")).toHaveLength(2);
  });

  test("nothing to look for is no hits, and does not even make an index", async () => {
    for (const words of ["", "   ", "\n\t", "🙂 ( - *"])
      expect(await find(words)).toEqual({ hits: [], total: 0 });
    expect(records.counts).toEqual({ scan: 0, read: 0 });
  });

  test("ten thousand characters of different words", async () => {
    const many = Array.from({ length: 1_800 }, (_, index) => `w${index}`).join(" ");
    records.put("a.md", document("T0001", "All of it", many));
    records.put("b.md", document("T0002", "One", "w7"));
    expect(await ids(many)).toEqual(["T0001"]);
    expect(await ids(many, { match: "any" })).toEqual(["T0001", "T0002"]);
  });

  test("no query at all makes it fail", async () => {
    records.put("a.md", document("T0001", "alpha", "beta"));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 40 }), async (words) => {
        const { hits, total } = await find(words);
        expect(hits).toHaveLength(total);
      }),
      runs(150),
    );
  });
});

describe("snippets", () => {
  const plain = (snippet: string) => shown(snippet).replace(/[<>]/g, "");
  const shown = (snippet: string) => snippet.replaceAll("\u0001", "<").replaceAll("\u0002", ">");
  const snippetOf = async (words: string) => (await find(words)).hits[0]?.snippet ?? "";

  test("mark what matched, stems, phrases and unfinished words included", async () => {
    records.put(
      "a.md",
      document("T0001", "x", "Locks in src/store/lock.ts\nare\n\nlocked:\tnaïvely, acquired."),
    );
    expect(await snippetOf("locking")).toBe(
      "\u0001Locks\u0002 in src/store/\u0001lock\u0002.ts are \u0001locked\u0002: naïvely, acquired.",
    );
    expect(await snippetOf("src/store/lock.ts acqu")).toBe(
      "Locks in \u0001src/store/lock.ts\u0002 are locked: naïvely, \u0001acquired\u0002.",
    );
    expect(await snippetOf("acquiring locking naively")).toBe(
      "\u0001Locks\u0002 in src/store/\u0001lock\u0002.ts are \u0001locked\u0002: \u0001naïvely\u0002, \u0001acquired\u0002.",
    );
    expect(await snippetOf("NAIVELY")).toContain("\u0001naïvely\u0002");
  });

  test("are short, on one line, and show the part with the most different words", async () => {
    const filler = "lorem ipsum dolor sit amet ".repeat(40);
    records.put(
      "a.md",
      document("T0001", "x", `${filler}alpha ${filler}\r\nalpha \u0001and\u0002 beta ${filler}`),
    );
    const snippet = await snippetOf("alpha beta");
    expect(plain(snippet).length).toBeLessThanOrEqual(162);
    expect(shown(snippet)).toMatch(/^….*<alpha> and <beta>.*…$/);
    expect(snippet).not.toMatch(/[\n\r]/);
  });

  test("of one endless word show where it matched", async () => {
    const blob = "x".repeat(5_000);
    records.put("a.md", document("T0001", "x", `${blob} found-${blob} ${"🙂".repeat(500)}`));
    const snippet = shown(await snippetOf("found"));
    expect(snippet).toContain("<found>");
    expect(snippet).toMatch(/^….*…$/);
    expect(snippet.length).toBeLessThan(170);
    expect(() => encodeURIComponent(snippet)).not.toThrow();
  });

  test("begin with the text when only the title matched, and with the title when there is no text", async () => {
    records.put("a.md", document("T0001", "Title word", "Only text here."));
    expect(await snippetOf("title")).toBe("Only text here.");
    records.put("a.md", document("T0001", "Title word", ""));
    expect(await snippetOf("title")).toBe("\u0001Title\u0002 word");
  });

  test("hold for any text", async () => {
    const piece = fc.oneof(
      fc.constantFrom("alpha", "Álpha", "alphas", "\n", "é", "🙂", "--", "x".repeat(300)),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const text = pieces.join(" ").replace(/[<>]/g, "");
        records.put("a.md", document("T0001", "alpha", text));
        const snippet = await snippetOf("alpha");
        expect(plain(snippet).length).toBeLessThanOrEqual(162);
        expect(snippet).not.toMatch(/[\n\r]/);
        expect(shown(snippet)).toMatch(/^[^<>]*(<[^<>]+>[^<>]*)*$/);
        if (/(^| )alpha( |$)/.test(text)) expect(snippet).toContain("\u0001");
      }),
      runs(60),
    );
  });
});
