import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { runJob, startNode } from "../helpers/worker-process.ts";

const START = { operation: "start", input: { task: "T0001" } };
const UNDO = { operation: "finish", input: { task: "T0001", remove: true, reason: "never mind" } };

let root: string;
let worker: string;
let copies = 0;
const prepared = new Map<string, Workspace>();

beforeAll(async () => {
  root = makeTemporaryFolder("start crash");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  prepared.set("one repository", await makeWorkspace(root, ["my project"]));
  prepared.set("two repositories", await makeWorkspace(root, ["my project", "api"]));
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (name: string) =>
  copyWorkspace(prepared.get(name) as Workspace, join(root, `copy ${++copies}`));

/** Everything is made, in all repositories, as if nothing had happened. */
function expectStarted(workspace: Workspace, before: unknown, wrote = true): void {
  expect(userBytes(workspace)).toEqual(before);
  expectTidy(workspace, wrote);
  const runs = runsOf(workspace);
  expect(runs.filter((one) => one.ended === undefined)).toEqual([{ status: "running", ended: undefined }]);
  expect(readFileSync(join(stateOf(homeOf(workspace)), "tasks/T0001/task.md"), "utf8")).toContain(
    "status: active\n",
  );
  for (const repository of workspace.repositories) {
    const place = placeOf(repository);
    const base = git(repository, "rev-parse", "main");
    expect(git(repository, "for-each-ref", "--format=%(objectname) %(refname:short)")).toBe(
      `${base} main\n${base} ${BRANCH}`,
    );
    expect(git(repository, "worktree", "list", "--porcelain")).toMatch(
      new RegExp(`^worktree ${place}\nHEAD ${base}\nbranch refs/heads/${BRANCH}\nlocked pawl T0001$`, "m"),
    );
    expect(gitIn(repository, place, "status", "--porcelain")).toBe("");
    expect(readFileSync(join(place, ".env"), "utf8")).toBe("KEY=of the user\n");
    expect(readFileSync(join(repository.path, ".git/worktrees/T0001-make-it-faster/pawl-task"), "utf8")).toBe(
      "T0001\n",
    );
  }
}

/** Nothing of it is left but the record that says so. */
function expectUndone(workspace: Workspace, before: unknown): void {
  expect(userBytes(workspace)).toEqual(before);
  expectTidy(workspace);
  expect(runsOf(workspace).filter((one) => one.ended === undefined)).toEqual([]);
  for (const repository of workspace.repositories) {
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
    expect(existsSync(join(repository.path, ".worktrees"))).toBe(false);
    expect(existsSync(join(repository.path, ".git/worktrees"))).toBe(false);
  }
}

/** All of ours, and of each change of the store, whose own steps are all tried elsewhere, before and after. */
const isOurs = ({ name }: Moment) => /^worktree |^done$/.test(name);

async function stepsOf(name: string): Promise<string[]> {
  const workspace = copyOf(name);
  const before = userBytes(workspace);
  const report = (await runJob(worker, homeOf(workspace), START)) as Report;
  // Each repository has changes of the user's, which stay where they are; there is nothing else to tell.
  const left = workspace.repositories.map(({ path }) =>
    expect.stringContaining(`${path} has uncommitted changes`),
  );
  expect(report).toMatchObject({ ok: true, warnings: left });
  expectStarted(workspace, before);
  removeWorkspace(workspace);
  return report.steps;
}

describe("kill -9 at every step", () => {
  for (const name of ["one repository", "two repositories"])
    testKills(`${name}: the next start finishes it`, {
      decided: "worktree move",
      isVariant: name === "one repository",
      async kill(choose) {
        const moments = momentsOf(await stepsOf(name));
        const isUsual = (moment: Moment) => name === "one repository" || isOurs(moment);
        await each(choose(moments, isUsual), async (moment) => {
          const workspace = copyOf(name);
          const before = userBytes(workspace);
          const killed = await runJob(worker, homeOf(workspace), { ...START, killAtStep: moment.n });
          expect(killed).toBeUndefined();
          expect(userBytes(workspace)).toEqual(before);
          const next = await runJob(worker, homeOf(workspace), START);
          expect(next, `step ${moment.n} ${moment.name}`).toMatchObject({ ok: true });
          expectStarted(workspace, before, next?.steps.includes("stage"));
          removeWorkspace(workspace);
        });
      },
    });

  testKills("two repositories: finish takes it back", {
    async kill(choose) {
      const name = "two repositories";
      const moments = momentsOf(await stepsOf(name));
      // In the second one: by then the first is complete. The last two are after the whole start was recorded.
      const inSecond = moments
        .filter(isOurs)
        .filter(({ n }) => n > moments.findIndex((one) => one.name === "worktree lock") + 1);
      await each(choose(inSecond.slice(0, -2)), async (moment) => {
        const workspace = copyOf(name);
        const before = userBytes(workspace);
        const killed = await runJob(worker, homeOf(workspace), { ...START, killAtStep: moment.n });
        expect(killed).toBeUndefined();
        const next = await runHere(homeOf(workspace), UNDO);
        expect(next, `step ${moment.n} ${moment.name}`).toMatchObject({ ok: true });
        expectUndone(workspace, before);
        removeWorkspace(workspace);
      });
    },
  });
});

testKills("a failed start that is being taken back: the next start finishes or takes back", {
  async kill(choose) {
    const name = "two repositories";
    const breakApi = (workspace: Workspace, smudge: string) => {
      const api = workspace.repositories[1] as Workspace["repositories"][number];
      mkdirSync(join(api.path, ".git/info"), { recursive: true });
      writeFileSync(join(api.path, ".git/info/attributes"), "*.txt filter=broken\n");
      git(api, "config", "filter.broken.smudge", smudge);
      git(api, "config", "filter.broken.clean", "cat");
      git(api, "config", "filter.broken.required", "true");
    };
    const failing = copyOf(name);
    breakApi(failing, "false");
    const before = userBytes(failing);
    const report = (await runJob(worker, homeOf(failing), START)) as Report;
    expect(report).toMatchObject({ ok: false, code: "git_failed" });
    expectUndone(failing, before);
    const first = report.steps.indexOf("worktree branch", report.steps.lastIndexOf("worktree bind"));
    const takingBack = momentsOf(report.steps).filter((moment) => isOurs(moment) && moment.n > first);
    expect(takingBack.length).toBeGreaterThan(8);
    await each(choose(takingBack), async (moment) => {
      const workspace = copyOf(name);
      breakApi(workspace, "false");
      const killed = await runJob(worker, homeOf(workspace), { ...START, killAtStep: moment.n });
      expect(killed).toBeUndefined();
      breakApi(workspace, "cat");
      const mended = userBytes(workspace);
      const next = await runHere(homeOf(workspace), START);
      expect(next, `step ${moment.n} ${moment.name}`).toMatchObject({ ok: true });
      expectStarted(workspace, mended);
      removeWorkspace(workspace);
    });
  },
});

describe("kill -9 while git is at work", { tags: ["proof"] }, () => {
  /** Checking out takes a while, and nobody can tell when the kill comes. */
  function slowDown(workspace: Workspace, files: number, seconds: string): void {
    const home = homeOf(workspace);
    for (let n = 0; n < files; n++) writeFileSync(join(home.path, `slow ${n}.slow`), `${n}\n`);
    git(home, "add", "*.slow");
    git(home, "commit", "-q", "-m", "Many", "--", "*.slow");
    mkdirSync(join(home.path, ".git/info"), { recursive: true });
    writeFileSync(join(home.path, ".git/info/attributes"), "*.slow filter=slow\n");
    git(home, "config", "filter.slow.smudge", `sleep ${seconds}; cat`);
  }

  const begin = (workspace: Workspace) =>
    startNode(homeOf(workspace), [worker, JSON.stringify({ cwd: homeOf(workspace).path, ...START })], {
      detached: true,
    });

  /** It stays there, so that it is found however seldom we get to look. */
  async function waitFor(path: string): Promise<void> {
    while (!existsSync(path)) await new Promise((resume) => setTimeout(resume, 5));
  }

  test("git dies with us, at any moment", async () => {
    const slow = copyOf("one repository");
    slowDown(slow, 40, "0.01");
    const killed: (string | null)[] = [];
    for (let n = 1; n <= 5; n++) {
      const workspace = copyWorkspace(slow, join(root, `copy ${++copies}`));
      const before = userBytes(workspace);
      const { child, ending } = begin(workspace);
      await waitFor(join(homeOf(workspace).path, ".git/worktrees"));
      await new Promise((resume) => setTimeout(resume, n * 100 - 100));
      process.kill(-(child.pid as number), "SIGKILL");
      killed.push((await ending).signal);
      expect(userBytes(workspace)).toEqual(before);
      expect(await runHere(homeOf(workspace), START)).toMatchObject({ ok: true });
      expectStarted(workspace, before);
      removeWorkspace(workspace);
    }
    expect(killed).toContain("SIGKILL");
  }, 120_000);

  test("git goes on without us: the next start waits for it", async () => {
    const workspace = copyOf("one repository");
    slowDown(workspace, 10, "0.1");
    const before = userBytes(workspace);
    const { child, ending } = begin(workspace);
    await waitFor(join(homeOf(workspace).path, ".git/worktrees/T0001-make-it-faster/logs/HEAD"));
    process.kill(child.pid as number, "SIGKILL");
    const next = await runJob(worker, homeOf(workspace), START);
    await ending;
    expect(next).toMatchObject({ ok: true });
    expect((next as Report).steps).not.toContain("worktree clear");
    expectStarted(workspace, before);
    removeWorkspace(workspace);
  });

  test("git alone is killed: everything is taken back", async () => {
    const workspace = copyOf("one repository");
    slowDown(workspace, 3, "0.01; kill -9 $PPID");
    const before = userBytes(workspace);
    const report = await runJob(worker, homeOf(workspace), START);
    expect(report).toMatchObject({ ok: false, code: "git_failed" });
    expectUndone(workspace, before);
    removeWorkspace(workspace);
  });
});

test("two starts at once: one starts it, the other is told", { tags: ["proof"] }, async () => {
  const workspace = copyOf("two repositories");
  const before = userBytes(workspace);
  const reports = await Promise.all([1, 2, 3].map(() => runJob(worker, homeOf(workspace), START)));
  for (const report of reports)
    if (!report?.ok) expect(report).toMatchObject({ code: "start_running", exitCode: 5 });
  expect(reports.filter((one) => one?.ok).length).toBeGreaterThanOrEqual(1);
  expect(runsOf(workspace)).toHaveLength(1);
  expectStarted(workspace, before);
  removeWorkspace(workspace);
});
