import { expect, test } from "vitest";
import * as z from "zod/mini";
import { parseInput } from "../../src/model/input.ts";

const schema = z.strictObject({
  runs: z.array(z.string()),
  lines: z.optional(z.int()),
  to: z.optional(z.object({ name: z.string() })),
});
const problemWith = (input: unknown) => {
  try {
    parseInput(schema, input);
    return "nothing";
  } catch (error) {
    return (error as Error).message;
  }
};

test.each([
  [{ runs: ["T1"] }, "nothing"],
  [{}, '"runs" is needed'],
  [{ runs: "T1" }, '"runs" must be a list, such as ["…"]'],
  [{ runs: ["T1"], lines: "3" }, '"lines" must be a number'],
  [{ runs: ["T1"], to: {} }, '"to.name" is needed'],
  [{ runs: ["T1"], to: { name: 1 } }, '"to.name" must be a string'],
  [{ runs: ["T1"], run: "T1" }, '"run" is not an option here'],
])("%j: %s", (input, problem) => {
  expect(problemWith(input)).toBe(problem);
});
