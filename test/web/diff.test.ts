// @module-tag again
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { colourLines, type Piece } from "../../src/web/diff/colours.ts";
import { lookedAt } from "../../src/web/diff/looked.ts";
import { pairRows } from "../../src/web/diff/pair-rows.ts";
import { type PatchFile, parsePatch } from "../../src/web/diff/parse-patch.ts";
import { ROWS_OF_A_PART, stretchesOf } from "../../src/web/diff/parts.ts";
import { queryOf, wishOf } from "../../src/web/diff/reading.ts";
import { renderAbove, renderBelow, renderRows } from "../../src/web/diff/render-file.ts";
import { wordMarks } from "../../src/web/diff/word-marks.ts";
import { html, visible } from "../../src/web/html.ts";
import { runs } from "../helpers/long-runs.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** What git says about two states of a folder; a text of undefined means that the file is not there. */
function patchOf(before: Record<string, string | Buffer>, after: Record<string, string | Buffer>): string {
  const root = join(folder, `${count++}`);
  for (const [side, files] of Object.entries({ a: before, b: after }))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, side, path, ".."), { recursive: true });
      writeFileSync(join(root, side, path), text);
    }
  mkdirSync(join(root, "a"), { recursive: true });
  mkdirSync(join(root, "b"), { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", maxBuffer: 1e9 });
  git("init", "-q");
  const tree = (side: string) => {
    const env = { ...process.env, GIT_INDEX_FILE: join(root, `.git/index-${side}`) };
    const run = (...args: string[]) =>
      execFileSync("git", ["-C", root, "--work-tree", side, ...args], { env, encoding: "utf8" }).trim();
    run("add", "-A", "--", ":/");
    return run("write-tree");
  };
  return git("-c", "core.quotePath=true", "diff", "--full-index", "-M", "--binary", tree("a"), tree("b"));
}

const plain = {
  anchor: "f1",
  colours: { old: undefined, new: undefined },
  below: () => undefined,
  split: false,
};
const render = (file: PatchFile) => renderRows(file, plain).text;
const only = (patch: string) => {
  const files = parsePatch(patch);
  expect(files).toHaveLength(1);
  return files[0] as PatchFile;
};

/** The text that a reader sees in the third column. */
const cells = (page: string) =>
  [...page.matchAll(/<td class="t[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) =>
    cell
      .replace(/<span class="note">.*?<\/span>/g, "")
      .replace(/<[^>]*>/g, "")
      .replace(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name] ?? "",
      ),
  );

describe("a patch", () => {
  test("that adds, changes, renames and deletes is read file by file", () => {
    const long = "line\n".repeat(30);
    const files = parsePatch(
      patchOf(
        { "gone.txt": "x\n", "old name.txt": long, "same.txt": "1\n2\n3\n" },
        { "new.txt": "y\n", "new name.txt": `${long}end\n`, "same.txt": "1\ntwo\n3\n" },
      ),
    );
    expect(
      files.map(({ path, oldPath, change, additions, deletions }) => [
        change,
        oldPath,
        path,
        additions,
        deletions,
      ]),
    ).toEqual([
      ["deleted", "gone.txt", "gone.txt", 0, 1],
      ["renamed", "old name.txt", "new name.txt", 1, 0],
      ["added", "new.txt", "new.txt", 1, 0],
      ["modified", "same.txt", "same.txt", 1, 1],
    ]);
  });

  test.each([
    "caf\u00e9 \u{1f980}.txt",
    'quote".txt',
    "tab\there.txt",
    "b/ b/in the middle.txt",
    "<img src=x onerror=alert(1)>.txt",
  ])("names the file %j as it is called", (name) => {
    expect(only(patchOf({}, { [name]: "x\n" })).path).toBe(name);
    expect(only(patchOf({ [name]: "x\n" }, { [name]: "y\n" }))).toMatchObject({ path: name, oldPath: name });
  });

  test("whose lines look like headers is not misled by them", () => {
    const text =
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- a\n++ b\n\\ No newline at end of file\n";
    const file = only(patchOf({ "p.patch": "one\n" }, { "p.patch": text }));
    expect(cells(render(file))).toEqual(["one", ...text.split("\n").slice(0, -1)]);
    const gone = only(patchOf({ "p.patch": text }, { "p.patch": "one\n" }));
    expect(gone).toMatchObject({ additions: 1, deletions: 7 });
  });

  test("says where a newline at the end is missing", () => {
    const [hunk] = only(patchOf({ f: "a\nb" }, { f: "a\nb\n" })).hunks;
    expect(hunk?.rows.map(({ sign, text, endless }) => [sign, text, endless])).toEqual([
      [" ", "a", false],
      ["-", "b", true],
      ["+", "b", false],
    ]);
  });

  test("of a binary file, of a mode, and an empty one", () => {
    expect(only(patchOf({ f: Buffer.from([0, 1, 2]) }, { f: Buffer.from([0, 1, 3]) }))).toMatchObject({
      binary: true,
      hunks: [],
    });
    expect(only(patchOf({}, { empty: "" }))).toMatchObject({ change: "added", hunks: [], additions: 0 });
    const patch = patchOf({ f: "x\n" }, { f: "x\n" });
    expect(parsePatch(patch)).toEqual([]);
    chmodSync(join(folder, `${count - 1}`, "b", "f"), 0o755);
    const mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
    expect(only(mode)).toMatchObject({ path: "f", oldMode: "100644", newMode: "100755", hunks: [] });
  });

  test("numbers both sides", () => {
    const before = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`);
    const after = before.toSpliced(4, 1, "five\n", "and a half\n").toSpliced(30, 1);
    const { hunks } = only(patchOf({ f: before.join("") }, { f: after.join("") }));
    const changed = hunks.flatMap(({ rows }) => rows.filter((row) => row.sign !== " "));
    expect(changed.map((row) => [row.sign, row.old, row.new])).toEqual([
      ["-", 5, undefined],
      ["+", undefined, 5],
      ["+", undefined, 6],
      ["-", 30, undefined],
    ]);
  });
});

describe("what a reader sees", () => {
  test("is every line of the patch, letter for letter, whatever is in it", () => {
    const line = fc
      .string({ unit: "grapheme-ascii", maxLength: 30 })
      .map((one) => one.replace(/[\n\r]/g, " "));
    const lines = fc.array(
      fc.oneof(line, fc.constantFrom("<b>", "&amp;", "-x", "+x", " x", "\\ x", "@@ -1 +1 @@")),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [file] = parsePatch(
          patchOf(
            { f: before.map((one) => `${one}\n`).join("") },
            { f: after.map((one) => `${one}\n`).join("") },
          ),
        );
        const rows = file?.hunks.flatMap((hunk) => hunk.rows) ?? [];
        const sides = (sign: string) => rows.filter((row) => row.sign !== sign).map((row) => row.text);
        if (file) {
          expect(cells(render(file))).toEqual(rows.map((row) => row.text));
          expect(before.join("\n")).toContain(sides("+").join("\n"));
          expect(after.join("\n")).toContain(sides("-").join("\n"));
        }
      }),
      runs(40),
    );
  });

  test.each([
    ["\u202e", "U+202E"],
    ["\u200b", "U+200B"],
    ["\u2066", "U+2066"],
    ["\u001b", "U+001B"],
    ["\u00ad", "U+00AD"],
    ["\ufeff", "U+FEFF"],
    ["\u{e0041}", "U+E0041"],
    ["\u2800", "U+2800"],
    ["\u180b", "U+180B"],
    ["\u{1d173}", "U+1D173"],
    ["\ufe0f", "U+FE0F"],
    ["\ud800", "U+D800"],
  ])("%j is shown by its number", (one, number) => {
    expect(visible(`a${one}b`).text).toBe(`a<span class="unseen">${number}</span>b`);
  });

  test.each(["⚠️", "1️⃣", "𞤀𞤣", "é", "日本", "\ttab"])("%j is shown as it is", (text) => {
    expect([visible(text).text, html`${text}`.text]).toEqual([text, text]);
  });

  test("nothing that others wrote becomes markup", () => {
    const evil = `"><script>alert('1')</script>`;
    expect(html`<p title="${evil}">${evil}${[evil]}</p>`.text).not.toMatch(/<script|'1'|title=""/);
    const file = only(patchOf({}, { [`${evil.replaceAll("/", "")}.ts`]: `${evil}\n` }));
    expect(render(file)).not.toContain("<script");
  });

  test("a large file comes in tables of a hundred rows", () => {
    const file = only(patchOf({}, { f: "x\n".repeat(2_500) }));
    expect(render(file).match(/<table/g)).toHaveLength(26);
    expect(cells(render(file))).toHaveLength(2_500);
  });

  test("the parts of a large file are together the whole of it, every heading once", () => {
    const lines = Array.from({ length: 1_600 }, (_, at) => `line ${at}`);
    // Changes far from each other, so that there are many hunks, and one long run of changed lines.
    const after = lines.map((line, at) => (at % 40 === 7 || at > 900 ? `${line}, changed` : line));
    const file = only(patchOf({ f: `${lines.join("\n")}\n` }, { f: `${after.join("\n")}\n` }));
    const whole = render(file);
    const rows = file.hunks.reduce((sum, hunk) => sum + hunk.rows.length + 1, 0);
    const parts = Array.from({ length: Math.ceil(rows / ROWS_OF_A_PART) }, (_, part) => {
      const stretches = stretchesOf(file, part);
      return renderRows(file, plain, stretches).text;
    });
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.flatMap(cells)).toEqual(cells(whole));
    for (const [at, part] of parts.entries())
      expect(part.match(/<tr/g)?.length, `part ${at}`).toBeLessThanOrEqual(ROWS_OF_A_PART);
    const headings = (text: string) => text.match(/<tr class="h"/g)?.length ?? 0;
    expect(headings(parts.join(""))).toBe(headings(whole));
    expect(stretchesOf(file, parts.length)).toEqual([]);
  });
});

describe("changed words", () => {
  const marksOf = (before: string, after: string) => {
    const { rows = [] } = only(patchOf({ f: `${before}\n` }, { f: `${after}\n` })).hunks[0] ?? {};
    const marks = wordMarks(rows);
    return rows.map((row) => row.text.slice(marks.get(row)?.from ?? 0, marks.get(row)?.to ?? 0));
  };

  test.each([
    ["attempt < 3; attempt++", "attempt < policy.attempts; attempt++", "3", "policy.attempts"],
    ["const value = 1;", "const values = 1;", "value", "values"],
    ["call(a, b)", "call(a, b, c)", "", ", c"],
    ["entirely this", "something else altogether", "", ""],
  ])("%j → %j", (before, after, removed, added) => {
    expect(marksOf(before, after)).toEqual([removed, added]);
  });
});

describe("colours", () => {
  const text = (lines: Piece[][] | undefined) =>
    lines?.map((pieces) => pieces.map((one) => one.text).join(""));

  test("keep the text, also where a comment or a template spans several lines", () => {
    const lines = ["/* a <b> & 'c'", "   goes on */ const x = `one", ["  $", '{"two"}`;'].join(""), ""];
    const coloured = colourLines("a.ts", lines);
    expect(text(coloured)).toEqual(lines);
    expect(coloured?.[1]?.[0]).toMatchObject({ colour: "c" });
  });

  test.each(["ts", "py", "rs", "go", "html", "md", "json", "yml", "sh", "css"])(
    "any text of .%s",
    (ending) => {
      fc.assert(
        fc.property(
          fc.array(
            fc.string({ maxLength: 40 }).map((one) => one.replace(/[\n\r]/g, "")),
            { minLength: 1 },
          ),
          (lines) => {
            expect(text(colourLines(`f.${ending}`, lines))).toEqual(lines);
          },
        ),
        runs(30),
      );
    },
  );

  test("an unknown language and very long lines stay plain", () => {
    expect(colourLines("f.unknown", ["x"])).toBeUndefined();
    expect(colourLines("f.ts", ["x".repeat(501)])).toBeUndefined();
  });
});

describe("beside each other", () => {
  const pairsOf = (before: string, after: string) =>
    pairRows(only(patchOf({ f: before }, { f: after })).hunks[0]?.rows ?? []).map(({ left, right }) => [
      left?.text,
      right?.text,
    ]);

  test.each([
    [
      "a\nb\nc\n",
      "a\nB\nc\n",
      [
        ["a", "a"],
        ["b", "B"],
        ["c", "c"],
      ],
    ],
    [
      "a\nb\nc\n",
      "a\nc\n",
      [
        ["a", "a"],
        ["b", undefined],
        ["c", "c"],
      ],
    ],
    [
      "a\n",
      "a\nx\ny\n",
      [
        ["a", "a"],
        [undefined, "x"],
        [undefined, "y"],
      ],
    ],
    [
      "a\nb\nc\n",
      "x\n",
      [
        ["a", "x"],
        ["b", undefined],
        ["c", undefined],
      ],
    ],
  ])("%j → %j", (before, after, pairs) => {
    expect(pairsOf(before, after)).toEqual(pairs);
  });

  test("shows every line of both sides, once", () => {
    const file = only(patchOf({ f: "a\nb\nc\nd\n" }, { f: "a\nB\nc\nx\n" }));
    const html = renderRows(file, { ...plain, split: true }).text;
    expect(cells(html).filter((one) => one !== "")).toEqual(["a", "a", "b", "B", "c", "c", "d", "x"]);
  });
});

describe("lines above a change", () => {
  const before = Array.from({ length: 80 }, (_, at) => `line ${at + 1}`);
  const after = ["new", ...before.slice(0, 69), "changed", ...before.slice(70)];
  const text = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join("");
  const file = only(patchOf({ f: text(before) }, { f: text(after) }));
  const more = {
    above: (hunk: number, upTo: number) => `/above/${hunk}?upto=${upTo}`,
    below: (from: number) => `/below?from=${from}`,
  };
  const rendering = { ...plain, more };
  const above = (upTo: number) => renderAbove(file, 1, upTo, after, rendering).text;
  const numbers = (page: string) =>
    [...page.matchAll(/<td class="l">(\d+)<\/td><td class="l">(\d+)<\/td>/g)].map(
      ([, old, fresh]) => `${old} ${fresh}`,
    );

  test("come twenty at a time, with the numbers of both sides, and offer the rest", () => {
    const start = file.hunks[1]?.newStart ?? 0;
    const page = above(start);
    expect(cells(page)).toEqual(after.slice(start - 21, start - 1));
    expect(numbers(page)[0]).toBe(`${start - 21} ${start - 20}`);
    expect(page).toContain(`/above/1?upto=${start - 20}`);
  });

  test("end at the change before, and then offer nothing", () => {
    const last = file.hunks[0]?.rows.at(-1)?.new ?? 0;
    const page = above(last + 4);
    expect(cells(page)).toEqual(after.slice(last, last + 3));
    expect(page).not.toContain("<button");
    expect(cells(above(last + 1))).toEqual([]);
  });

  test("are offered by the page only where the commit is here", () => {
    expect(renderRows(file, rendering).text.match(/data-src="[^"]*above/g)).toHaveLength(1);
    expect(renderRows(file, plain).text).not.toContain("<button");
  });

  test("and below the last one come as well, until the file ends", () => {
    const last = file.hunks[1]?.rows.at(-1)?.new ?? 0;
    expect(renderRows(file, rendering).text).toContain(`/below?from=${last + 1}`);
    const below = (from: number, lines = [...after, ""]) => renderBelow(file, from, lines, rendering).text;
    expect(cells(below(last + 1))).toEqual(after.slice(last));
    expect(numbers(below(last + 1))[0]).toBe(`${last} ${last + 1}`);
    expect(below(last + 1)).not.toContain("<button");
    const longer = [...after, ...before, ""];
    expect(cells(below(last + 1, longer))).toEqual(longer.slice(last, last + 20));
    expect(below(last + 1, longer)).toContain(`/below?from=${last + 21}`);
    for (const wrong of [Number.NaN, -1, last]) expect(cells(below(wrong))).toEqual([]);
    const atTheEnd = only(patchOf({ f: text(before) }, { f: text([...before, "new"]) }));
    expect(renderRows(atTheEnd, rendering).text).not.toContain("/below");
  });
});

describe("what somebody has looked at", () => {
  const file = (path: string, digest: string) => ({ ...only(patchOf({}, { f: "x\n" })), path, digest });
  const repo = { run: "T0001/R1", saved: "", base: "", head: "", commit: "", patch: "", kept: true };
  const files = [file("same", "1"), file("changed", "2"), file("new", "3")];
  const marks = [
    { repo: "web", path: "same", digest: "1", commit: "a" },
    { repo: "web", path: "changed", digest: "old", commit: "a" },
    { repo: "web", path: "gone", digest: "4" },
    { repo: "api", path: "new", digest: "3" },
  ];
  const looked = lookedAt(marks, [{ ...repo, repo: "web", files }]);

  test("counts as long as the file is the same, in its own repository", () => {
    expect(files.map((one) => looked.isViewed("web", one))).toEqual([true, false, false]);
    expect(files.map((one) => looked.before("web", one)?.commit)).toEqual([undefined, "a", undefined]);
    expect(looked.gone.map(({ repo: name, path }) => [name, path])).toEqual([
      ["web", "gone"],
      ["api", "new"],
    ]);
  });
});

test.each([
  ["", ""],
  ["run=R1&view=split", "run=R1&view=split"],
  ["space=ignore&since=look&x=1&view=other", "space=ignore&since=look"],
])("a way to read %j is kept as %j", (query, kept) => {
  expect(String(queryOf(wishOf(new URLSearchParams(query))))).toBe(kept);
});
