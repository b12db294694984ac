import { expect, test } from "vitest";
import { lineHtml } from "../../src/web/ansi.ts";

test.each([
  ["plain <b>", "plain &lt;b&gt;"],
  ["\u001b[31mred\u001b[0m plain", '<span class="ansi-red">red</span> plain'],
  [
    "\u001b[1;92mboth\u001b[39m bold",
    '<span class="ansi-bold ansi-green">both</span><span class="ansi-bold"> bold</span>',
  ],
  ["\u001b[2K\u001b[1Aup \u001b]0;title\u0007end", "up end"],
  ["\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["a\u001bb", 'a<span class="unseen">U+001B</span>b'],
  ["\u001b[38;5;196mmany\u001b[m", "many"],
])("%j", (line, html) => {
  expect(lineHtml(line).text).toBe(html);
});
