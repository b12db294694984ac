import { expect, test } from "vitest";
import { partOf, taskOf } from "../../src/model/ids.ts";

test.each([
  ["T0007/F3", "T0007", "F3"],
  ["T0007/receipt", "T0007", "receipt"],
  ["T0007/touched/a1b2", "T0007", "touched/a1b2"],
])("%s is the task %s and the part %s", (id, task, part) => {
  expect([taskOf(id), partOf(id)]).toEqual([task, part]);
});

test("an id without a slash loses no letter", () => {
  expect(taskOf("T0007")).toBe("T0007");
  expect(partOf("F3")).toBe("F3");
});
