import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { carryOut, finishJournal } from "../../src/installer/journal.ts";
import { observeSteps } from "../../src/model/steps.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
let local: string;
let tree: string;
beforeEach(() => {
  root = makeTemporaryFolder("journal");
  [local, tree] = [join(root, "git dir/pawl"), join(root, "work tree")];
  mkdirSync(tree);
});
afterEach(() => {
  observeSteps(() => {});
  rmSync(root, { recursive: true, force: true });
});

const change = (path: string) => ({ path, before: undefined, after: Buffer.from("ours\n") });

function stopAt(name: string): void {
  observeSteps((one) => {
    if (one === name) throw new Error("stopped");
  });
  const work = { folders: ["folder"], changes: [change("one"), change("folder/two")], emptied: [] };
  expect(() => carryOut(local, tree, work)).toThrow("stopped");
  observeSteps(() => {});
}

test("what was stopped halfway is completed by whoever comes next", () => {
  stopAt("install folder/two");
  expect(finishJournal(local)).toEqual([]);
  expect(readFileSync(join(tree, "folder/two"), "utf8")).toBe("ours\n");
  expect(existsSync(join(local, "installing"))).toBe(false);
});

test("a worktree that was removed meanwhile does not come back, and stops nobody", () => {
  stopAt("install one");
  rmSync(tree, { recursive: true });
  expect(finishJournal(local)).toEqual([]);
  expect(existsSync(tree)).toBe(false);
  expect(existsSync(join(local, "installing"))).toBe(false);
});
