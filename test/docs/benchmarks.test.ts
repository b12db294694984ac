import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUDGETS, judge, readPage, renderPage } from "../../scripts/bench/page.mjs";
import { root } from "./read-markdown.ts";

const CLI = [
  "tasks  command    median  ratio   budget",
  "1000   status     61 ms   1.52 ×  ≤ 1.7 ×  ok",
  "1000   status, first in a minute  80 ms  2.00 ×",
  "1000   task list  90 ms   2.25 ×  ≤ 2 ×    MISSED",
].join("\n");
const SEARCH = "1,000 tasks, Node v24.1.0: search   99 ms  2.50 ×  ≤ 2.5 ×  ok";
const verdictOf = (what: RegExp, results: Parameters<typeof judge>[0]) =>
  judge(results).find((one) => what.test(one.what));

describe("a budget", () => {
  const results = [
    { suite: "cli", measured: "Monday", ok: false, output: CLI },
    { suite: "search", measured: "Tuesday, load 0.5", ok: true, output: SEARCH },
  ];

  test("is met when every line about it says so", () => {
    expect(verdictOf(/^`search`/, results)).toMatchObject({
      verdict: "met",
      figures: ["1,000 tasks, Node v24.1.0: search · 99 ms · 2.50 × · ≤ 2.5 × · ok"],
    });
  });

  test("is missed when one line says so, and stays on the page by name", () => {
    expect(verdictOf(/^`task list`/, results)?.verdict).toBe("**missed**");
    expect(renderPage(results)).toMatch(/^Not met:.*`task list`/m);
  });

  test("is not taken for met when nobody measured it", () => {
    expect(verdictOf(/^MCP/, results)?.verdict).toBe("**not measured**");
  });

  test("of the store is missed when its suite fails", () => {
    const store = { suite: "store", measured: "Monday", ok: false, output: "lost updates            1\n" };
    expect(verdictOf(/^8 processes/, [store])?.verdict).toBe("**missed**");
    expect(verdictOf(/^8 processes/, [{ ...store, ok: true }])?.verdict).toBe("met");
  });

  test.each([...new Set(BUDGETS.flatMap(({ lines }) => lines.map(([suite]) => suite)))])(
    "names a suite that there is: %s",
    (suite) => {
      expect(existsSync(join(root, "bench", `${suite}.ts`))).toBe(true);
    },
  );
});

test("the page holds what each suite said, to be kept when another one is measured again", () => {
  const results = [
    { suite: "agent-hooks", measured: "Monday, load 0.5", ok: false, output: "## cli\n\n  1.00 x" },
    { suite: "cli", measured: "Tuesday", ok: true, output: CLI },
  ];
  expect(readPage(renderPage(results))).toEqual(results);
});

test("docs/benchmarks.md has every budget, with a verdict", () => {
  const page = readFileSync(join(root, "docs/benchmarks.md"), "utf8");
  for (const { what, budget } of BUDGETS) {
    const row = page.split("\n").find((line) => line.startsWith(`| ${what} | ${budget} |`));
    expect(row, what).toMatch(/\| (?:met|\*\*missed\*\*|\*\*not measured\*\*) \|$/);
  }
});
