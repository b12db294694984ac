import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { observeSteps } from "../../src/core/steps.ts";
import type { Project } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import {
  approveIt,
  copyReady,
  gitIn,
  inspect,
  makeReady,
  ok,
  placeTarget,
  type Ready,
  type Target,
  typing,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { commitIn, makeRemote, pass, publish, REFUSALS } from "./approve-refusals.ts";

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
afterEach(() => observeSteps(() => {}));

const fresh = (ready: Ready) => copyReady(ready, join(folder, `copy ${++copies}`));
const homeOf = (ready: Ready) => ready.repos[0] as Project;

describe("a merge", () => {
  for (const target of ["main worktree", "linked worktree", "nowhere"] as Target[])
    test(`lands in both repositories with the target in ${target}, and brings its checkout along`, async () => {
      const ready = fresh(double);
      placeTarget(ready, target);
      const before = ready.repos.map((repo) => repo.git("rev-parse", "main"));
      const done = await approveIt(ready);
      expect(done.json.error ?? done.code).toBe(0);
      expect(inspect(ready, target)).toEqual({ merged: true, complaints: [] });
      for (const [index, repo] of ready.repos.entries()) {
        const head = gitIn(ready, worktreeOf(repo), "rev-parse", "HEAD");
        expect(repo.git("log", "-1", "--format=%P %an %s", "main")).toBe(
          `${before[index]} ${head} Ada Merge T0001: Change it all`,
        );
        expect(repo.git("rev-parse", "main^{tree}")).toBe(repo.git("rev-parse", `${head}^{tree}`));
        expect(repo.git("log", "-1", "--format=%(trailers:only)", "main")).toBe(
          "Pawl-Task: T0001\nPawl-Approval: T0001/A1",
        );
        expect(repo.git("reflog", "-1", "--format=%gs", "main")).toBe("pawl: merge T0001 (T0001/A1)");
        expect(done.json.data.approval.repos[index]).toMatchObject({
          ...{ old: before[index], new: repo.git("rev-parse", "main"), head, pushed: false },
        });
      }
      const read = (path: string) => homeOf(ready).read(`tasks/T0001/${path}`);
      expect(read("task.md")).toContain("status: merged");
      const home = homeOf(ready).git("rev-parse", "main");
      // A commit of digits only is quoted, so that nobody takes it for a number.
      expect(read("findings/F1.md")).toMatch(new RegExp(`^integrated_commit: "?${home}"?$`, "m"));
      expect(done.err).toMatch(
        /Change it all[\s\S]*1 file|11 files changed[\s\S]*Evidence[\s\S]*Last handoff/,
      );
    });

  test("a file that was only touched, or that git was told not to look at, is no reason to refuse", async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    repo.git("update-index", "--skip-worktree", "src/changed.txt");
    repo.git("update-index", "--assume-unchanged", "src/kept.txt");
    utimesSync(join(repo.path, "README.md"), new Date(), new Date());
    const done = await approveIt(ready);
    expect(done.json.error ?? done.code).toBe(0);
    expect(readFileSync(join(repo.path, "src/changed.txt"), "utf8")).toBe("after\n");
    expect(repo.git("ls-files", "-v", "src")).toBe("S src/changed.txt\nh src/kept.txt");
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
  });

  test("from a linked repository, with autocrlf, and with two checkouts of the target", async () => {
    const ready = fresh(double);
    for (const repo of ready.repos) repo.git("config", "core.autocrlf", "true");
    const api = ready.repos[1] as Project;
    api.git("switch", "-q", "-c", "elsewhere");
    for (const name of ["one", "two"]) api.git("worktree", "add", "-q", "-f", `${api.path} ${name}`, "main");
    const done = await typing(ready, { typed: "t1", cwd: api.path }, "approve", "T1");
    expect(done.json.error ?? done.code).toBe(0);
    for (const name of ["one", "two"]) {
      expect(gitIn(ready, `${api.path} ${name}`, "status", "--porcelain")).toBe("");
      expect(readFileSync(join(`${api.path} ${name}`, "src/changed.txt"), "utf8")).toBe("after\r\n");
    }
  });

  test("a dry run says what would be merged, and changes nothing", async () => {
    const ready = fresh(single);
    const done = await approveIt(ready, "--dry-run");
    expect(done.json.planned).toEqual([{ do: "merge", path: "task/T0001-change-it-all into main of shop" }]);
    expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
  });
});

describe("every refusal, on a real repository", () => {
  test.each(REFUSALS)("$code: $because", async ({ code, exit, argv, said, provoke }) => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    await provoke(repo, ready);
    const refs = () => repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads");
    const files = () => repo.git("status", "--porcelain", "-uall");
    const moves = ["base_moved", "target_dirty", "files_in_the_way"];
    const [before, status] = [refs(), files()];
    const words = argv?.includes("--task") ? [] : ["T1"];
    const refused = await typing(ready, said ?? { typed: "T0001" }, "approve", ...words, ...(argv ?? []));
    observeSteps(() => {});
    expect(refused.json.error?.code, refused.out).toBe(code);
    expect(refused.code).toBe(exit ?? 1);
    expect(refused.json.error.message.length).toBeGreaterThan(10);
    if (!moves.includes(code)) expect([refs(), files()]).toEqual([before, status]);
    const merges = repo.git("log", "--branches", "--format=%(trailers:key=Pawl-Approval)");
    expect(merges.trim()).toBe(code === "already_merged" ? "Pawl-Approval: T0001/A1" : "");
    const left = join(stateOf(repo), ".local/merging");
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
  });
});
