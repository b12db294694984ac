import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Project } from "../helpers/command-line.ts";
import { type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import type { Report } from "../helpers/operation-worker.ts";
import {
  copyReady,
  gitIn,
  makeReady,
  ok,
  type Ready,
  TASK_BRANCH,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";
import { commitIn, makeRemote, publish } from "./approve-refusals.ts";

let folder: string;
let single: Ready;
let double: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("refresh");
  single = await makeReady(join(folder, "single"), 1);
  double = await makeReady(join(folder, "double"), 2);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = (ready: Ready) => copyReady(ready, join(folder, `copy ${++copies}`));
const homeOf = (ready: Ready) => ready.repos[0] as Project;
const headOf = (repo: Project) => repo.git("rev-parse", TASK_BRANCH);

/** What the next gate says about the review, once there is one. */
async function reasons(repo: Project): Promise<string[]> {
  const { json } = await repo.pawl("check", "T1", "--stage", "close", "--json");
  return json.data.check.reasons.map((one: { code: string }) => one.code);
}

async function review(repo: Project): Promise<void> {
  await ok(repo.pawl("task", "update", "T1", "--profile", "standard"));
  const reviewer = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "r" };
  repo.begin(reviewer);
  const words = [
    "review",
    "record",
    "T1",
    "--kind",
    "branch",
    "--verdict",
    "pass",
    "--looked-at",
    "src/changed.txt",
  ];
  await ok(repo.pawlIn(worktreeOf(repo), reviewer, ...words));
}

describe("a base that moved", () => {
  test.each([
    ["no file in common: the review holds", "other.txt", "x\n", false],
    ["a file in common, in other lines: the review is stale", "README.md", undefined, true],
  ])("%s", async (_what, path, text, overlap) => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    await review(repo);
    const from = headOf(repo);
    const changed =
      text ?? readFileSync(join(repo.path, path), "utf8").replace("# A project", "# The project");
    commitIn(ready, repo.path, path, changed);
    const base = repo.git("rev-parse", "main");
    expect(await reasons(repo)).toContain("base_moved");
    // Files of the author's that nobody tracks stay where they are.
    writeFileSync(join(worktreeOf(repo), "scratch.log"), "mine\n");
    const done = await ok(repo.pawl("refresh", "T1", "--json"));
    const to = headOf(repo);
    expect(done.json.data.refreshed).toEqual([{ repo: "shop", from, to, base, overlap }]);
    expect(repo.git("log", "-1", "--format=%P", to)).toBe(`${from} ${base}`);
    expect(gitIn(ready, worktreeOf(repo), "status", "--porcelain")).toBe("");
    expect(readFileSync(join(worktreeOf(repo), "scratch.log"), "utf8")).toBe("mine\n");
    expect(repo.read("tasks/T0001/runs/R1/run.md")).toMatch(new RegExp(`\\bto: "?${to}`));
    const after = await reasons(repo);
    expect(after).toContain("check_stale");
    expect(after.includes("review_stale")).toBe(overlap);
    const again = await ok(repo.pawl("refresh", "T1", "--json"));
    expect(again.json.data).toMatchObject({ refreshed: [], current: ["shop"] });
  });

  test("a branch without a commit of its own simply follows", async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    gitIn(ready, worktreeOf(repo), "reset", "-q", "--hard", "main");
    commitIn(ready, repo.path, "other.txt", "x\n");
    await ok(repo.pawl("refresh", "T1"));
    expect(headOf(repo)).toBe(repo.git("rev-parse", "main"));
  });

  test("an agent may do it, from inside its worktree; a remote that is ahead is reported, not fetched", async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    publish(ready, makeRemote(repo, ready).colleague, "theirs.txt", "x\n");
    repo.git("fetch", "-q", "origin");
    commitIn(ready, repo.path, "other.txt", "x\n");
    const done = await ok(repo.pawlIn(worktreeOf(repo), { CODEX_SESSION_ID: "s" }, "refresh", "--json"));
    expect(done.json.warnings.join()).toContain("is 1 commit behind origin/main");
  });
});

describe("refused, and nothing is changed", () => {
  const rows: [code: string, provoke: (repo: Project, ready: Ready) => unknown][] = [
    ["dirty_worktree", (repo) => writeFileSync(join(worktreeOf(repo), "README.md"), "mine\n")],
    ["files_in_the_way", (repo) => writeFileSync(join(worktreeOf(repo), "other.txt"), "mine\n")],
    ["unmergeable", (repo, ready) => commitIn(ready, repo.path, "src/changed.txt", "theirs\n")],
    [
      "index_locked",
      (repo) => writeFileSync(join(repo.path, ".git/worktrees/T0001-change-it-all/index.lock"), ""),
    ],
    ["base_missing", (repo) => repo.git("branch", "-m", "main", "trunk")],
    ["branch_missing", (repo) => repo.git("update-ref", "-d", `refs/heads/${TASK_BRANCH}`)],
    ["already_merged", (repo) => repo.write(".pawl/state/tasks/T0001/task.md", merged(repo))],
    ["no_identity", (_repo, ready) => rmSync(join(ready.root, ".gitconfig"))],
    [
      "operation_in_progress",
      (repo) => writeFileSync(join(repo.path, ".git/worktrees/T0001-change-it-all/MERGE_HEAD"), headOf(repo)),
    ],
  ];
  const merged = (repo: Project) =>
    repo.read("tasks/T0001/task.md").replace("status: active", "status: merged");
  test.each(rows)("%s", async (code, provoke) => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    commitIn(ready, repo.path, "other.txt", "x\n");
    await provoke(repo, ready);
    const refs = () => repo.git("for-each-ref", "refs/heads");
    const before = refs();
    const refused = await repo.pawl("refresh", "T1", "--json");
    expect(refused.json.error?.code, refused.out).toBe(code);
    expect(refused.code).toBe(1);
    expect(refs()).toBe(before);
    if (code === "unmergeable") {
      expect(refused.json.error.details.files).toEqual(["src/changed.txt"]);
      expect(refused.json.error.hint).toContain(`merge main`);
    }
  });

  test("all repositories or none", async () => {
    const ready = fresh(double);
    const [shop, api] = ready.repos as [Project, Project];
    for (const repo of [shop, api]) commitIn(ready, repo.path, "other.txt", "x\n");
    writeFileSync(join(worktreeOf(api), "README.md"), "mine\n");
    const before = headOf(shop);
    const refused = await shop.pawl("refresh", "T1", "--json");
    expect(refused.json.error).toMatchObject({ code: "dirty_worktree", details: { repo: "api" } });
    expect(headOf(shop)).toBe(before);
  });
});

testKills("a refresh: the next command completes it or takes it back, in both repositories", {
  decided: "merge-journal decided",
  async kill(choose) {
    const entry = fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url));
    const worker = await bundleProgram(entry, folder, "worker");
    const moved = () => {
      const ready = fresh(double);
      for (const repo of ready.repos) commitIn(ready, repo.path, "other.txt", "x\n");
      return ready;
    };
    const refresh = { operation: "refresh", input: { task: "T1" } };
    const whole = (await runJob(worker, homeOf(moved()), refresh)) as Report;
    expect(whole).toMatchObject({ ok: true });
    const outcomes: boolean[] = [];
    const isMerging = (one: Moment) => one.name.startsWith("merge-");
    for (const { n, name } of choose(momentsOf(whole.steps), isMerging)) {
      const ready = moved();
      const before = ready.repos.map(headOf);
      expect(await runJob(worker, homeOf(ready), { ...refresh, killAtStep: n })).toBeUndefined();
      await ok(homeOf(ready).pawl("note", "add", "the next command"));
      const went = ready.repos.map((repo, at) => headOf(repo) !== before[at]);
      expect(new Set(went).size, name).toBe(1);
      outcomes.push(went[0] as boolean);
      const record = homeOf(ready).read("tasks/T0001/runs/R1/run.md");
      for (const repo of ready.repos) {
        expect(new RegExp(`\\bto: "?${headOf(repo)}`).test(record), name).toBe(went[0] as boolean);
        expect(gitIn(ready, worktreeOf(repo), "status", "--porcelain"), name).toBe("");
        expect(repo.git("status", "--porcelain"), name).toBe("?? notes.txt");
      }
      rmSync(ready.root, { recursive: true, force: true });
    }
    expect([...outcomes].sort()).toEqual(outcomes);
    expect(new Set(outcomes)).toEqual(new Set([false, true]));
  },
});
