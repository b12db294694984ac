import { expect, test } from "vitest";
import { printable } from "../../src/model/printable.ts";

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
