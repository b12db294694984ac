// @module-tag again
import fc from "fast-check";
import prettier from "prettier";
import { expect, test } from "vitest";
import {
  type Block,
  insertBlock,
  lookAtBlock,
  removeBlock,
  updateBlock,
} from "../../../src/installer/edit/blocks.ts";
import { runs } from "../../helpers/long-runs.ts";

const html: Block = { path: "AGENTS.md", comment: "html", body: "## Pawl\n\nRun `pawl` first.\n" };
const hash: Block = { path: ".gitignore", comment: "hash", body: "one\ntwo" };

test.each([
  ["no file", html, undefined, "<!-- pawl:begin -->\n\n## Pawl\n\nRun `pawl` first.\n\n<!-- pawl:end -->\n"],
  [
    "a file",
    html,
    "# Hi\n",
    "# Hi\n\n<!-- pawl:begin -->\n\n## Pawl\n\nRun `pawl` first.\n\n<!-- pawl:end -->\n",
  ],
  ["no line end at the end", hash, "x", "x\n\n# pawl:begin\none\ntwo\n# pawl:end"],
  ["windows", hash, "x\r\n", "x\r\n\r\n# pawl:begin\r\none\r\ntwo\r\n# pawl:end\r\n"],
])("how a block looks in: %s", (_, block, before, after) => {
  const { text, inserted } = insertBlock(before, block);
  expect(text).toBe(after);
  expect(lookAtBlock(text, block)).toBe("same");
  expect(removeBlock(text, block, inserted)).toEqual({ text: before, exact: true });
});

test("a line added right above the block keeps its line end", () => {
  const { text, inserted } = insertBlock("# Hi\n", hash);
  const edited = text.replace("# pawl:begin", "mine\n# pawl:begin");
  expect(removeBlock(edited, hash, inserted)).toEqual({ text: "# Hi\n\nmine\n", exact: false });
});

test("text around the block that a ledger claims is removed only if it is blank", () => {
  const { text } = insertBlock("# Hi\n", hash);
  const greedy = { created: true, pieces: [text], made: [] };
  expect(removeBlock(text, hash, greedy)).toEqual({ text: "# Hi\n", exact: false });
});

const line = fc.constantFrom(
  "",
  "",
  "# Hi",
  "text",
  "\t",
  "```",
  "<!-- pawl:beginning -->",
  "é 😀",
  "a # pawl:end",
  "- x  ",
);
const texts = fc
  .record({
    lines: fc.array(line, { maxLength: 6 }),
    newline: fc.constantFrom("\n", "\r\n"),
    mark: fc.constantFrom("", "\ufeff"),
  })
  .map(({ lines, newline, mark }) => mark + lines.join(newline));

test("inserting and removing a block restores the file, whatever surrounds it", () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(html, hash), line, fc.boolean(), (before, block, more, windows) => {
      const { text, inserted } = insertBlock(before, block);
      expect(text.startsWith(before)).toBe(true);
      expect(inserted.pieces).toEqual([text.slice(before.length)]);
      expect(insertBlock(text, block).text).toBe(text);
      expect(removeBlock(text, block, inserted)).toEqual({ text: before, exact: true });
      const newer = { ...block, body: "other\n\ntext" };
      const updated = updateBlock(text, newer, inserted);
      expect(lookAtBlock(updated.text, newer)).toBe("same");
      expect(removeBlock(updated.text, newer, updated.inserted).text).toBe(before);

      const added = `top\n${text.replace(/^\ufeff/, "")}${text.endsWith("\n") ? "" : "\n"}${more}\n`;
      const edited = windows ? added.replaceAll(/\r?\n/g, "\r\n") : added;
      expect(lookAtBlock(edited, block)).toBe("same");
      const rest = removeBlock(edited, block, inserted).text ?? "";
      const words = (all: string) => all.split(/\r?\n/).filter((one) => one.trim() !== "");
      expect(words(rest)).toEqual(["top", ...words(before.replace(/^\ufeff/, "")), ...words(more)]);
    }),
    runs(500),
  );
});

test.each([
  "<!-- pawl:begin -->\n",
  "<!-- pawl:end -->\n<!-- pawl:begin -->\n",
  "<!-- pawl:begin -->\n<!-- pawl:begin -->\n<!-- pawl:end -->\n",
  "<!-- pawl:begin -->\n<!-- pawl:end -->\n\n  <!-- pawl:end -->\n",
])("unpaired marks are refused: %j", (text) => {
  expect(lookAtBlock(text, html)).toBe("broken");
  const inserted = { created: false, pieces: [], made: [] };
  for (const edit of [
    () => insertBlock(text, html),
    () => updateBlock(text, html, inserted),
    () => removeBlock(text, html, inserted),
  ])
    expect(edit).toThrow(
      expect.objectContaining({ code: "block_broken", message: expect.stringMatching(/line \d+/) }),
    );
});

test("the user's edits inside a block are noticed, and it can still be updated and removed", () => {
  const { text, inserted } = insertBlock("# Hi\n", html);
  const edited = text.replace("first", "second");
  expect(lookAtBlock(edited, html)).toBe("different");
  expect(updateBlock(edited, html, inserted).text).toBe(text);
  expect(removeBlock(edited, html, inserted)).toEqual({ text: "# Hi\n", exact: false });
});

test("a Markdown file formatted by prettier stays formatted", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (before) => {
      const pretty = await prettier.format(before.replaceAll("```", "`x`"), { parser: "markdown" });
      const { text } = insertBlock(pretty, html);
      expect(await prettier.format(text, { parser: "markdown" })).toBe(text);
    }),
    runs(100),
  );
});
