// @module-tag again
import fc from "fast-check";
import { expect, test } from "vitest";
import { editSections, findSections, printSection } from "../../src/model/markdown/sections.ts";
import { runs } from "../helpers/long-runs.ts";

const textOf = (body: string, heading: string) =>
  findSections(body).find((section) => section.heading === heading)?.text;

const NASTY = [
  "## Plan\n\nnot the end",
  "# Title",
  "```\n## inside a fence\n```",
  "``` never closed\n## still text",
  "<!-- text:1 -->\nfoo\n<!-- /text:1 -->",
  "---\nid: T0001\n---",
  "  leading space",
  "trailing space  ",
  "a\n\n\nb",
  "- [ ] item\n- [x] done",
  "emoji 🪛 and ünïcödé",
];

test.each(NASTY)("comes back exactly: %j", (text) => {
  const body = printSection("Plan", text, "\n") + printSection("Notes", "after", "\n");
  expect(textOf(body, "Plan")).toBe(text);
  expect(textOf(body, "Notes")).toBe("after");
});

test("any text comes back exactly, and its neighbours stay byte for byte", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "## Plan",
      "## Notes",
      "# x",
      "```",
      "~~~",
      "<!-- text:1 -->",
      "<!-- /text:1 -->",
      "",
      "---",
      "\\## Plan",
    ),
    fc.string(),
  );
  const text = fc
    .array(line, { minLength: 1, maxLength: 12 })
    .map((lines) => lines.join("\n").replaceAll("\r", ""))
    .filter((value) => value !== "" && !value.includes("\n## never"));
  fc.assert(
    fc.property(text, text, fc.constantFrom("\n", "\r\n"), (before, after, eol) => {
      const around = `Written by hand.${eol}${eol}## Mine${eol}${eol}keep  me ${eol}${eol}`;
      const tail = `${eol}## Also mine${eol}tail${eol}`;
      const body = around + printSection("Plan", before, eol) + tail;
      const edited = editSections(body, new Map([["Plan", after]]), eol);
      expect(textOf(edited, "Plan")).toBe(after);
      expect(edited.startsWith(around)).toBe(true);
      expect(edited.endsWith(`## Also mine${eol}tail${eol}`)).toBe(true);
    }),
    runs(2000),
  );
});

test("an unchanged section is not rewritten", () => {
  const body = "\n## Plan\nnot as we would   print it  \n\n\n## Notes\nx";
  expect(editSections(body, new Map([["Plan", "not as we would   print it"]]), "\n")).toBe(body);
});

test("a missing section is added at the end, an emptied one goes with its heading", () => {
  expect(editSections("", new Map([["Plan", "a"]]), "\n")).toBe("## Plan\n\na\n");
  expect(editSections("text", new Map([["Plan", "a"]]), "\n")).toBe("text\n\n## Plan\n\na\n");
  expect(editSections("## Plan\n\na\n\n## Notes\n\nb\n", new Map([["Plan", ""]]), "\n")).toBe(
    "## Notes\n\nb\n",
  );
});
