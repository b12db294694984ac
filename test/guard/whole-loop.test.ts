// @module-tag proof
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approveIt, gitIn, makeReady, ok, type Ready, worktreeOf } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
let ready: Ready;
beforeAll(async () => {
  root = makeTemporaryFolder("guarded loop");
  ready = await makeReady(root, 2);
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

test("a task that was begun under no guard is approved and finished under one", async () => {
  for (const repo of ready.repos) await ok(repo.pawl("install", "--profile", "hooks"));
  const [home] = ready.repos;
  if (!home) throw new Error("There is no repository");
  const refused = () => gitIn(ready, home.path, "merge", "-q", "--ff-only", "task/T0001-change-it-all");
  expect(refused).toThrow(/pawl: refused: main is protected/);

  const before = ready.repos.map((repo) => gitIn(ready, repo.path, "rev-parse", "main"));
  expect(await approveIt(ready)).toMatchObject({ code: 0 });
  const after = ready.repos.map((repo) => gitIn(ready, repo.path, "rev-parse", "main"));
  for (const [at, commit] of after.entries()) expect(commit).not.toBe(before[at]);
  for (const repo of ready.repos) expect(gitIn(ready, repo.path, "status", "--porcelain", "-uno")).toBe("");
  expect(await home.pawl("audit", "--json")).toMatchObject({
    code: 0,
    json: { data: { audit: { branches: [{ counts: { approved: 1 } }, { counts: { approved: 1 } }] } } },
  });

  expect(await ready.repos[0]?.pawl("finish", "T1", "--remove", "--reason", "merged")).toMatchObject({
    code: 0,
  });
  expect(() => gitIn(ready, worktreeOf(home), "status")).toThrow();

  // The next task begins under the guard, and its worktree is the only place that moves its branch.
  await ok(home.pawl("task", "new", "Another one"));
  await ok(home.pawl("start", "T2"));
  const worktree = join(home.path, ".worktrees/T0002-another-one");
  gitIn(ready, worktree, "commit", "-q", "--allow-empty", "-m", "work");
  expect(() => gitIn(ready, home.path, "branch", "-f", "task/T0002-another-one", "main")).toThrow();
  expect(() => gitIn(ready, worktree, "branch", "mine")).toThrow(/this worktree belongs to T0002/);
  expect(await home.pawl("snapshot", "T2")).toMatchObject({ code: 0 });

  // A linked repository's guard is missed as well as the home's.
  rmSync(join(ready.repos[1]?.path ?? "", ".git/pawl/before"));
  expect(await home.pawl("audit", "--json")).toMatchObject({
    code: 1,
    json: { data: { audit: { findings: [{ code: "guard_removed", repo: "api" }] } } },
  });
});
