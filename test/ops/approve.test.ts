import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveIt, copyReady, inspect, makeReady, placeTarget, type Ready, type Target } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let folder: string;
let single: Ready;
let double: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("approve");
  single = await makeReady(join(folder, "single"), 1);
  double = await makeReady(join(folder, "double"), 2);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = (ready: Ready) => copyReady(ready, join(folder, `copy ${++copies}`));

describe("a merge", () => {
  for (const target of ["main worktree", "linked worktree", "nowhere"] as Target[])
    test(`lands in both repositories with the target in ${target}`, async () => {
      const ready = fresh(double);
      placeTarget(ready, target);
      const done = await approveIt(ready);
      expect(done.json.error ?? done.code).toBe(0);
      expect(inspect(ready, target)).toEqual({ merged: true, complaints: [] });
    });
  test("single", async () => {
    const ready = fresh(single);
    const done = await approveIt(ready);
    expect(done.json.error ?? done.code).toBe(0);
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
    expect(done.err).toBe("");
  });
});
