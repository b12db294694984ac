import { expect, test } from "vitest";
import { type MadeCommit, moveBranch } from "../../src/installer/commit.ts";
import type { TreeGit } from "../../src/installer/tree-git.ts";
import { Failure } from "../../src/model/failure.ts";

test("the prepared index is put back if the branch does not move", () => {
  const staged = new Map([["a", { mode: "100644", id: "new" }]]);
  const before = new Map([["a", { mode: "100644", id: "old" }]]);
  const seen: unknown[] = [];
  const git = {
    stage: (entries: unknown) => seen.push(entries),
    ask: () => ({ code: 1, out: "", err: "refused by a hook" }),
  } as unknown as TreeGit;
  const made: MadeCommit = {
    ref: "refs/heads/x",
    branch: "x",
    old: "1",
    commit: "2",
    paths: ["a"],
    left: [],
    staged,
    before,
  };
  expect(() => moveBranch(git, "unused", made, false)).toThrow(Failure);
  expect(seen).toEqual([staged, before]);
});
