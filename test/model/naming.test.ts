import { expect, test } from "vitest";
import { branchOfRef, isNothing, refOfBranch } from "../../src/model/naming.ts";

test("a branch and its ref name each other; a ref that is no branch keeps its name", () => {
  expect(refOfBranch("task/T0001")).toBe("refs/heads/task/T0001");
  expect(branchOfRef("refs/heads/task/T0001")).toBe("task/T0001");
  expect(branchOfRef("refs/remotes/origin/main")).toBe("refs/remotes/origin/main");
});

test("only zeros are no commit, however long they are", () => {
  expect(["0".repeat(40), "0".repeat(64)].every(isNothing)).toBe(true);
  expect(isNothing(`${"0".repeat(39)}1`)).toBe(false);
});
