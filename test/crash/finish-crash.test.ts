import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import {
  BRANCH,
  copyWorkspace,
  expectTidy,
  git,
  gitIn,
  homeOf,
  makeWorkspace,
  placeOf,
  removeWorkspace,
  runsOf,
  userBytes,
  type Workspace,
} from "../helpers/crash-workspace.ts";
import { each, type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { runHere } from "../helpers/perform-job.ts";
import { makeTemporaryFolder, stateOf, type TemporaryRepository } from "../helpers/temporary-repository.ts";
import { runJob, startNode } from "../helpers/worker-process.ts";

const REMOVE = { operation: "finish", input: { task: "T0001", remove: true, reason: "enough" } };
const KEEP = { operation: "finish", input: { task: "T0001", keep: true, reason: "enough" } };

let root: string;
let worker: string;
let copies = 0;
const prepared = new Map<string, Workspace>();

/** A started task with a commit, a modified and an untracked file in each worktree. */
async function makeStarted(names: string[]): Promise<Workspace> {
  const workspace = await makeWorkspace(root, names);
  const start = { operation: "start", input: { task: "T0001" } };
  expect(await runHere(homeOf(workspace), start)).toMatchObject({ ok: true });
  for (const repository of workspace.repositories) {
    const place = placeOf(repository);
    writeFileSync(join(place, "work.txt"), "committed work\n");
    gitIn(repository, place, "add", "-A");
    gitIn(repository, place, "commit", "-q", "-m", "Work");
    writeFileSync(join(place, "src/deep/tracked.txt"), "modified work\n");
    writeFileSync(join(place, "loose.txt"), "loose work\n");
  }
  return workspace;
}

beforeAll(async () => {
  root = makeTemporaryFolder("finish crash");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  prepared.set("one repository", await makeStarted(["my project"]));
  prepared.set("two repositories", await makeStarted(["my project", "api"]));
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (name: string) =>
  copyWorkspace(prepared.get(name) as Workspace, join(root, `copy ${++copies}`));

const WORK = {
  "work.txt": "committed work",
  "src/deep/tracked.txt": "modified work",
  "loose.txt": "loose work",
};
const SNAPSHOT = "refs/pawl/snapshots/T0001/R1";

const isSaved = (repository: TemporaryRepository) => git(repository, "for-each-ref", SNAPSHOT) !== "";

function expectSaved(repository: TemporaryRepository): void {
  for (const [path, text] of Object.entries(WORK))
    expect(git(repository, "show", `${SNAPSHOT}:${path}`)).toBe(text);
}

/** At every moment the work is in a worktree, whole, or saved; and its commits belong to something. */
function expectNothingLost({ repositories }: Workspace): void {
  for (const repository of repositories) {
    if (isSaved(repository)) expectSaved(repository);
    else
      for (const [path, text] of Object.entries(WORK))
        expect(readFileSync(join(placeOf(repository), path), "utf8")).toBe(`${text}\n`);
    const refs = git(repository, "for-each-ref", "--contains", "refs/tags/work");
    expect(refs.split("\n").filter((line) => !line.includes("refs/tags")).length).toBeGreaterThan(0);
  }
}

function expectRemoved(workspace: Workspace, before: unknown, wrote = true): void {
  expect(userBytes(workspace)).toEqual(before);
  expectTidy(workspace, wrote);
  expect(runsOf(workspace)).toEqual([{ status: "interrupted", ended: "removed" }]);
  const run = readFileSync(join(stateOf(homeOf(workspace)), "tasks/T0001/runs/R1/run.md"), "utf8");
  for (const repository of workspace.repositories) {
    expectSaved(repository);
    expect(run).toContain(`head: ${quoted(git(repository, "rev-parse", "refs/tags/work"))}`);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
    expect(existsSync(join(repository.path, ".worktrees"))).toBe(false);
    expect(existsSync(join(repository.path, ".git/worktrees"))).toBe(false);
    const bound = join(repository.path, ".git/pawl/grants/worktree/refs/heads/task");
    expect(existsSync(bound) ? readdirSync(bound) : []).toEqual([]);
  }
}

const quoted = (sha: string) => (/^\d+(?:e\d+)?$|^\d/.test(sha) ? `"${sha}"` : sha);

/** A mark of the test's own, to find the work by its commit. */
function mark(workspace: Workspace): void {
  for (const repository of workspace.repositories) git(repository, "tag", "work", BRANCH);
}

/** All of ours, and some of each change of the store, whose own steps are all tried elsewhere. */
const isOurs = ({ name }: Moment) => /^worktree |^snapshot |^journal$|^done$/.test(name);

async function stepsOf(name: string, job: typeof REMOVE | typeof KEEP): Promise<string[]> {
  const workspace = copyOf(name);
  mark(workspace);
  const before = userBytes(workspace);
  const report = (await runJob(worker, homeOf(workspace), job)) as Report;
  expect(report).toMatchObject({ ok: true });
  if (job === REMOVE) expectRemoved(workspace, before);
  removeWorkspace(workspace);
  return report.steps;
}

describe("finish --remove", () => {
  for (const name of ["one repository", "two repositories"])
    testKills(`${name}: the next finish goes on, and nothing is ever lost`, {
      decided: "worktree move",
      isVariant: name === "one repository",
      async kill(choose) {
        const moments = momentsOf(await stepsOf(name, REMOVE));
        await each(choose(moments, isOurs), async ({ n }) => {
          const workspace = copyOf(name);
          mark(workspace);
          const before = userBytes(workspace);
          expect(await runJob(worker, homeOf(workspace), { ...REMOVE, killAtStep: n })).toBeUndefined();
          expectNothingLost(workspace);
          const next = await runJob(worker, homeOf(workspace), REMOVE);
          // Killed after the last record, there is nothing left to do.
          if (next?.ok === false) expect([n, next.code]).toEqual([expect.any(Number), "no_run"]);
          expectRemoved(workspace, before, next?.steps.includes("stage"));
          removeWorkspace(workspace);
        });
      },
    });
});

testKills("finish --keep: the next one goes on, and everything is still there", {
  decided: "worktree lock",
  async kill(choose) {
    const name = "two repositories";
    const moments = momentsOf(await stepsOf(name, KEEP));
    await each(choose(moments, isOurs), async ({ n }) => {
      const workspace = copyOf(name);
      mark(workspace);
      const before = userBytes(workspace);
      expect(await runJob(worker, homeOf(workspace), { ...KEEP, killAtStep: n })).toBeUndefined();
      expect(await runHere(homeOf(workspace), KEEP)).toMatchObject({ ok: true });
      expect(userBytes(workspace)).toEqual(before);
      expectTidy(workspace);
      expect(runsOf(workspace)).toEqual([{ status: "kept", ended: "kept" }]);
      expectNothingLost(workspace);
      for (const repository of workspace.repositories)
        expect(git(repository, "worktree", "list", "--porcelain")).toMatch(
          /^locked pawl T0001 kept: enough$/m,
        );
      removeWorkspace(workspace);
    });
  },
});

test("what a killed git has removed half of is not saved over what was, and goes", {
  tags: ["proof"],
}, async () => {
  const name = "two repositories";
  const steps = await stepsOf(name, REMOVE);
  const half = ["loose.txt", "src"];
  for (const gone of [half, [...half, ".git"]]) {
    const workspace = copyOf(name);
    mark(workspace);
    const before = userBytes(workspace);
    const n = steps.indexOf("worktree remove") + 1;
    expect(await runJob(worker, homeOf(workspace), { ...REMOVE, killAtStep: n })).toBeUndefined();
    const aside = join(homeOf(workspace).path, ".worktrees/.removing/T0001-make-it-faster");
    expect(existsSync(join(aside, "loose.txt"))).toBe(true);
    for (const path of gone) rmSync(join(aside, path), { recursive: true });
    expectNothingLost(workspace);
    expect(await runHere(homeOf(workspace), REMOVE)).toMatchObject({ ok: true });
    expectRemoved(workspace, before);
    removeWorkspace(workspace);
  }
});

test("somebody who works on after a killed finish loses nothing", { tags: ["proof"] }, async () => {
  const name = "one repository";
  const steps = await stepsOf(name, REMOVE);
  const workspace = copyOf(name);
  mark(workspace);
  const before = userBytes(workspace);
  const n = steps.indexOf("worktree move") + 1;
  expect(await runJob(worker, homeOf(workspace), { ...REMOVE, killAtStep: n })).toBeUndefined();
  writeFileSync(join(placeOf(homeOf(workspace)), "later.txt"), "written after the kill\n");
  expect(await runHere(homeOf(workspace), REMOVE)).toMatchObject({ ok: true });
  expectRemoved(workspace, before);
  expect(git(homeOf(workspace), "show", `${SNAPSHOT}:later.txt`)).toBe("written after the kill");
  removeWorkspace(workspace);
});

test("what is written while the rest is being saved stops the removal, and everything comes back", {
  tags: ["proof"],
}, async () => {
  const workspace = copyOf("two repositories");
  mark(workspace);
  const before = userBytes(workspace);
  const home = homeOf(workspace);
  const api = workspace.repositories[1] as TemporaryRepository;
  // The first worktree has been saved and is about to be moved; somebody still writes in the second one.
  const job = { cwd: home.path, ...REMOVE, suspendAt: "worktree move" };
  const { child, ending } = startNode(home, [worker, JSON.stringify(job)]);
  await new Promise((resume) => child.stdout?.once("data", resume));
  // It says so just before it stops; woken too early it would sleep for ever.
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8")))
    await new Promise((resume) => setTimeout(resume, 5));
  writeFileSync(join(placeOf(api), "late.txt"), "written while it was saved\n");
  child.kill("SIGCONT");
  const report = JSON.parse((await ending).out.trim().split("\n").at(-1) ?? "") as Report;
  expect(report).toMatchObject({ ok: false, code: "worktree_changed", exitCode: 5 });
  expect(userBytes(workspace)).toEqual(before);
  expectTidy(workspace);
  expect(runsOf(workspace)).toEqual([{ status: "running", ended: undefined }]);
  for (const repository of workspace.repositories) {
    for (const [path, text] of Object.entries(WORK))
      expect(readFileSync(join(placeOf(repository), path), "utf8")).toBe(`${text}\n`);
    expect(git(repository, "worktree", "list", "--porcelain")).toMatch(/^locked pawl T0001$/m);
  }
  expect(await runHere(home, REMOVE)).toMatchObject({ ok: true });
  expectRemoved(workspace, before);
  expect(git(api, "show", `${SNAPSHOT}:late.txt`)).toBe("written while it was saved");
  removeWorkspace(workspace);
});
