import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

test("the next process completes an interrupted install", () => {
  stopAt("install folder/two");
  expect(finishJournal(local)).toEqual([]);
  expect(readFileSync(join(tree, "folder/two"), "utf8")).toBe("ours\n");
  expect(existsSync(join(local, "installing"))).toBe(false);
});

test("a worktree removed meanwhile is not recreated, and blocks nobody", () => {
  stopAt("install one");
  rmSync(tree, { recursive: true });
  expect(finishJournal(local)).toEqual([]);
  expect(existsSync(tree)).toBe(false);
  expect(existsSync(join(local, "installing"))).toBe(false);
});

test("the copy of a replaced file is kept until the file is restored", () => {
  const kept = join(local, "kept/name");
  mkdirSync(dirname(kept), { recursive: true });
  const back = { path: "file", before: Buffer.from("ours"), after: Buffer.from("theirs"), dropKept: "name" };
  const work = { folders: [], changes: [back], emptied: [] };
  for (const [there, expected] of [
    ["edited", true],
    ["ours", false],
  ] as const) {
    writeFileSync(kept, "theirs");
    writeFileSync(join(tree, "file"), there);
    expect(carryOut(local, tree, work)).toEqual(expected ? ["file"] : []);
    expect(existsSync(kept)).toBe(expected);
  }
});

test.each([
  ["changes", [{ path: "../planted", before: null, after: "" }]],
  ["folders", ["../planted"]],
  ["emptied", ["../outside"]],
])("a journal whose %s point outside the worktree is discarded", (name, value) => {
  mkdirSync(join(local, "installing"), { recursive: true });
  mkdirSync(join(root, "outside"));
  writeFileSync(join(local, "installing/0"), "planted");
  const whole = { root: "../../work tree", folders: [], changes: [], emptied: [], [name]: value };
  writeFileSync(join(local, "installing/journal.json"), JSON.stringify(whole));
  expect(finishJournal(local)).toEqual([]);
  expect([existsSync(join(root, "planted")), existsSync(join(root, "outside"))]).toEqual([false, true]);
  expect(existsSync(join(local, "installing"))).toBe(false);
});
