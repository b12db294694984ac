// @module-tag again
import fc from "fast-check";
import prettier, { type Options } from "prettier";
import { expect, test } from "vitest";
import { insertEntries, replaceEntries } from "../../../src/installer/edit/entries.ts";
import type { Entry, Json } from "../../../src/installer/edit/types.ts";
import { runs } from "../../helpers/long-runs.ts";

const file = { path: ".claude/settings.json", format: "json" } as const;

const text = fc.string({ unit: fc.constantFrom("a", " ", "/", '"', "$", "{"), maxLength: 30 });
const name = fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 8 });
const { value } = fc.letrec<{ value: Json; fields: { [key: string]: Json } }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.boolean(),
    fc.array(text, { maxLength: 4 }),
    fc.array(tie("fields"), { maxLength: 3 }),
    tie("fields"),
  ),
  fields: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
}));
const entries = fc.tuple(value, value, value).map(([server, one, two]): Entry[] => [
  { at: ["mcpServers", "pawl"], kind: "key", value: server },
  { at: ["hooks", "Stop"], kind: "item", value: { one } },
  { at: ["hooks", "PreToolUse"], kind: "item", value: { two } },
]);

test("a file that we create is formatted as prettier would", async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (ours) => {
      const created = insertEntries(file, undefined, ours);
      expect(await prettier.format(created.text, { parser: "json" })).toBe(created.text);
    }),
    runs(20),
  );
});

/** Every object on lines of its own, as programs write settings; prettier leaves it so. */
const settings = fc
  .record({
    rest: fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true }),
    servers: fc.option(fc.dictionary(name, value, { maxKeys: 2, noNullPrototype: true })),
    hooks: fc.option(fc.array(fc.record({ a: value, b: value }), { maxLength: 2 })),
  })
  .map(({ rest, servers, hooks }) => ({
    // A file without any line of its own would not show how it is indented.
    first: true,
    ...rest,
    ...(servers && { mcpServers: servers }),
    ...(hooks && { hooks: { PreToolUse: hooks } }),
  }));

const STYLES: [string, Options, string | number][] = [
  ["two spaces", { parser: "json" }, 2],
  ["tabs", { parser: "json", useTabs: true }, "\t"],
  ["windows", { parser: "json", endOfLine: "crlf" }, 2],
  ["four spaces", { parser: "json", tabWidth: 4 }, 4],
];

/** The comma that our entry needs after it makes such a line too long for prettier, and the line is the user's to break. */
const isFull = (line: string) => line.replaceAll("\t", "  ").length === 80;

test.each(STYLES)("a file formatted by prettier stays formatted: %s", async (_, options, indent) => {
  await fc.assert(
    fc.asyncProperty(settings, entries, entries, async (theirs, ours, newer) => {
      const before = await prettier.format(JSON.stringify(theirs, undefined, indent), options);
      fc.pre(!before.split(/\r?\n/).some(isFull));
      const first = insertEntries(file, before, ours);
      expect(await prettier.format(first.text, options)).toBe(first.text);
      const second = replaceEntries(file, first.text, ours, newer, first.inserted);
      expect(await prettier.format(second.text, options)).toBe(second.text);
    }),
    runs(100),
  );
});
