// @module-tag again
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseLine } from "../../src/cli/arguments.ts";
import { check } from "../../src/ops/check.ts";
import { taskNew } from "../../src/ops/task-new.ts";
import { runs } from "../helpers/long-runs.ts";

/** Words that a parser may take for something else: negations, numbers, truths, assignments. */
const tricky = fc.constantFrom(
  "no-x",
  "true",
  "0",
  "1e3",
  "a=b",
  "-x",
  "T0001",
  "a.b/c",
  "x y",
  "",
  "ü",
  "--no-y",
);
const value = fc.oneof(tricky, fc.string({ unit: "grapheme", maxLength: 12 }));

test("what is given to an option arrives as it was given, whether or not the parser was needed for the line", async () => {
  await fc.assert(
    fc.asyncProperty(value, value, async (objective, acceptance) => {
      const line = parseLine(taskNew, ["title", `--objective=${objective}`, `--acceptance=${acceptance}`]);
      expect(line.input).toEqual({ title: "title", objective, acceptance });
    }),
    runs(100),
  );
});

test("a line of plain words means the same with and without other values beside them", async () => {
  const plain = parseLine(check, ["T0001", "--stage", "close", "--json"]);
  expect(plain.input).toEqual({ task: "T0001", stage: "close" });
  expect(plain.common).toMatchObject({ json: true, "dry-run": false, actor: undefined });
  const parsed = parseLine(check, ["T0001", "--stage", "close", "--json", "--actor", "human:A B"]);
  expect(parsed.input).toEqual(plain.input);
  expect(parsed.common).toEqual({ ...plain.common, actor: "human:A B" });
});
