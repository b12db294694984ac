import { expect, test } from "vitest";
import { firstFew } from "../../src/model/text.ts";

test.each([
  [[], 2, ""],
  [["a"], 2, "a"],
  [["a", "b"], 2, "a, b"],
  [["a", "b", "c"], 2, "a, b and 1 more"],
  [["a", "b", "c"], 1, "a and 2 more"],
])("the first of %j, at most %i", (items, most, text) => {
  expect(firstFew(items, most)).toBe(text);
});
