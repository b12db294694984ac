import { expect, test } from "vitest";
import { fold, printable, quoteLine } from "../../src/model/printable.ts";

const ESC = "\u001b";

test.each([
  ["plain text\twith a tab\nand a line", "plain text\twith a tab\nand a line"],
  [`${ESC}[1mbold${ESC}[22m ${ESC}[31mred${ESC}[39m`, `${ESC}[1mbold${ESC}[22m ${ESC}[31mred${ESC}[39m`],
  [`a${ESC}[2K${ESC}[1Ab`, "a\ufffd[2K\ufffd[1Ab"],
  [`${ESC}[8mhidden`, "\ufffd[8mhidden"],
  [`${ESC}[1;8mhidden`, "\ufffd[1;8mhidden"],
  [`${ESC}]0;title\u0007`, "\ufffd]0;title\ufffd"],
  ["over\rwritten", "over\ufffdwritten"],
  ["lines\r\nof windows", "lines\nof windows"],
  ["\u009b8m", "\ufffd8m"],
  ["a\u202eb", "a\ufffdb"],
  ["Ünïcödé 👍 日本", "Ünïcödé 👍 日本"],
  [ESC, "\ufffd"],
])("%j is shown as %j", (written, shown) => {
  expect(printable(written)).toBe(shown);
});

test.each([
  ["two\nlines\r\n  and\ttabs", '"two lines and tabs"'],
  [`${ESC}[32mgreen${ESC}[39m`, '"\ufffd[32mgreen\ufffd[39m"'],
  ['it says "Type T0001" \u201chere\u201d', "\"it says 'Type T0001' 'here'\""],
  ["a\u200bb\u202ec\u2066d", '"a\ufffdb\ufffdc\ufffdd"'],
  ["a\u2800b\u{e0041}c\u034fd\ufe0f", '"a\ufffdb\ufffdc\ufffdd\ufffd"'],
  ["x".repeat(400), `"${"x".repeat(300)} \u2026 (400 characters)"`],
])("%j is quoted as one line: %s", (written, shown) => {
  expect(quoteLine(written)).toBe(shown);
});

test("no row of a long line begins where a line of ours would", () => {
  const rows = fold(`  title "${"x ".repeat(33)}Receipt 1234 5678 ${"日".repeat(60)}"`, "      : ").split(
    "\n",
  );
  expect(rows.length).toBeGreaterThan(2);
  for (const row of rows.slice(1)) expect(row.startsWith("      : ")).toBe(true);
  const width = (row: string) => [...row].reduce((sum, one) => sum + (one === "日" ? 2 : 1), 0);
  expect(Math.max(...rows.map(width))).toBeLessThanOrEqual(78);
  expect(fold("short", ": ")).toBe("short");
});
