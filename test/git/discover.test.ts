// @module-tag again
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainName } from "../../src/git/discover.ts";
import { runs } from "../helpers/long-runs.ts";

/** The rule itself, without the short cut for names that are plain already. */
const byTheRule = (folder: string) =>
  folder
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}_. -]+/gu, "-")
    .replace(/^[^\p{L}\p{N}_]+|[ -]+$/gu, "") || "project";

test.each([
  ["my shop", "my shop"],
  ["my-shop.two", "my-shop.two"],
  ["shop.", "shop."],
  ["shop-", "shop"],
  [" shop", "shop"],
  ["-", "project"],
  ["x", "x"],
  ["", "project"],
  ["a\n", "a"],
  ["Bu\u0308cher & Co", "B\u00fccher - Co"],
])("a folder %j is the project %j", (folder, name) => {
  expect(plainName(folder)).toBe(name);
});

test("the short cut for plain names never says anything else than the rule", () => {
  const letters = fc.constantFrom(..."aZ09_. -&/\n\u00e9".split(""));
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 8 }), (parts) => {
      expect(plainName(parts.join(""))).toBe(byTheRule(parts.join("")));
    }),
    runs(2_000),
  );
});
