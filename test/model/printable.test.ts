import { expect, test } from "vitest";
import { printable, quoteLine } from "../../src/model/printable.ts";

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
  ["x".repeat(400), `"${"x".repeat(300)} \u2026 (400 characters)"`],
])("%j is quoted as one line: %s", (written, shown) => {
  expect(quoteLine(written)).toBe(shown);
});
