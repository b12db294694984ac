import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owners, readExit, readGuard, readSpec } from "../../src/agents/attempt/folder.ts";
import { isSupervised } from "../../src/agents/attempt/state.ts";
import { markedProcesses } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { forEachOf, git } from "../helpers/crash-workspace.ts";
import type { Report } from "../helpers/operation-worker.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

/**
 * kill -9 at every step of starting, settling and stopping a run. An agent that ends at once, or that stays, says in a
 * ledger that it began; whatever is killed, the records agree with the ledger in the end, and the next run goes well.
 */
const AGENT = `
echo "$PAWL_ATTEMPT" >> "$(git rev-parse --path-format=absolute --git-common-dir)/ledger"
[ "$1" = ends ] && exit 0
: > "$(git rev-parse --git-dir)/index.lock"
setsid sleep 7777 &
echo waiting
sleep 300
`;
const CONFIG =
  "profile: light\nruns: agents\nagents:\n  ends:\n    command: [sh, agent.sh, ends]\n  stays:\n    command: [sh, agent.sh, stays]\n";
const start = (agent: string) => ({ operation: "run", input: { task: ["T0001"], agent } });
const WAIT = { operation: "run.wait", input: { run: ["T0001"], for: "60s" } };
const STOP = { operation: "run.stop", input: { run: "T0001", grace: "0s" } };

let root: string;
let worker: string;
let built: BuiltProgram;
let prepared: TemporaryRepository;
let copies = 0;

beforeAll(async () => {
  root = makeTemporaryFolder("run crash");
  built = buildProgram();
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  prepared = makeRepository(join(root, "prepared"));
  mkdirSync(join(prepared.path, ".pawl"));
  writeFileSync(join(prepared.path, ".pawl/config.yaml"), CONFIG);
  writeFileSync(join(prepared.path, "agent.sh"), AGENT);
  git(prepared, "add", "-A");
  git(prepared, "commit", "-q", "-m", "Agents");
  const made = await runJob(worker, prepared, { operation: "task.new", input: { title: "Make it faster" } });
  expect(made).toMatchObject({ ok: true });
});
afterAll(() => {
  built?.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

/**
 * A project of its own. `alone`: what supervisors start at their end does nothing, so that the command under test is the
 * one that writes the end down.
 */
function copyProject(alone: boolean): TemporaryRepository {
  const folder = join(root, `copy ${++copies}`);
  cpSync(join(root, "prepared"), folder, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  });
  const path = folder + prepared.path.slice(join(root, "prepared").length);
  const runtime = join(path, ".git/pawl/runtime");
  mkdirSync(runtime, { recursive: true });
  cpSync(join(built.folder, "supervise.cjs"), join(runtime, "supervise.cjs"));
  // The clone's copy, whose one package is found from where the build lies.
  const program = alone ? "" : `require(${JSON.stringify(built.pawl)});\n`;
  writeFileSync(join(runtime, "pawl.cjs"), program);
  return { path, env: prepared.env };
}

const runsIn = ({ path }: TemporaryRepository) => join(path, ".git/pawl/runs");

/** Every attempt that has a folder, of any run. */
function attemptsIn(project: TemporaryRepository): string[] {
  const folder = runsIn(project);
  const runs = existsSync(folder) ? readdirSync(folder).filter((name) => /^T\d+\.R\d+$/.test(name)) : [];
  return runs.flatMap((run) =>
    readdirSync(join(folder, run)).flatMap((name) => (/^a\d+$/.test(name) ? [join(folder, run, name)] : [])),
  );
}

/** The attempts as the records tell them, in order. */
function recorded(project: TemporaryRepository): { status: string; reason: string | undefined }[] {
  const folder = join(project.path, ".pawl/state/tasks/T0001/runs");
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.flatMap((name) => {
    const text = readFileSync(join(folder, name, "run.md"), "utf8");
    const attempts = /^attempts:\n((?: .*\n)*)/m.exec(text)?.[1] ?? "";
    return attempts
      .split(/^ {2}- /m)
      .slice(1)
      .map((one) => ({
        status: /status: (.*)/.exec(one)?.[1] ?? "",
        reason: /reason: (.*)/.exec(one)?.[1],
      }));
  });
}

const ledger = ({ path }: TemporaryRepository) => {
  const file = join(path, ".git/ledger");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

async function waitFor(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !isSo(); await sleep(25))
    if (Date.now() > end) throw new Error(`Not within a minute: ${what}`);
}

async function expectDone(
  project: TemporaryRepository,
  job: Parameters<typeof runJob>[2],
  what: string,
): Promise<void> {
  const report = await runJob(worker, project, job);
  expect(report?.ok, `${what}: ${report && "message" in report ? report.message : "it was killed"}`).toBe(
    true,
  );
}

/** Nobody is at work, nothing is left to be written down, and what the records say is what happened. */
function expectSettled(project: TemporaryRepository, what: string): void {
  const all = recorded(project);
  expect(
    all.filter((one) => one.status === "starting" || one.status === "running"),
    what,
  ).toEqual([]);
  const open = join(runsIn(project), "open");
  expect(existsSync(open) ? readdirSync(open) : [], what).toEqual([]);
  const began = ledger(project);
  expect(new Set(began).size, `${what}: an agent was started twice`).toBe(began.length);
  expect(all.filter((one) => one.reason !== "never_started").length, what).toBe(began.length);
  for (const path of attemptsIn(project)) {
    expect(readExit(path), what).toBeDefined();
    expect(markedProcesses(readSpec(path)?.mark ?? "none"), what).toEqual([]);
  }
  const gitDir = join(project.path, ".git/worktrees/T0001-make-it-faster");
  expect(existsSync(join(gitDir, "index.lock")), what).toBe(false);
}

/** Whoever was killed, the next one begins and ends well. */
async function expectNextGoesWell(project: TemporaryRepository, what: string): Promise<void> {
  const before = recorded(project).length;
  await expectDone(project, start("ends"), what);
  await expectDone(project, WAIT, what);
  expect(recorded(project).slice(before), what).toEqual([{ status: "succeeded", reason: undefined }]);
  expectSettled(project, what);
}

async function done(project: TemporaryRepository): Promise<void> {
  for (const path of attemptsIn(project))
    await waitFor("the supervisor is gone", () => !owners(path).some((one) => isSupervised(path, one)));
  rmSync(project.path, { recursive: true, force: true, maxRetries: 3 });
}

/** Of each change of the store only the end, because its own steps are all tried elsewhere; `npm run soak -- steps` tries all. */
const isChosen = (name: string) =>
  process.env.PAWL_SOAK_SECONDS !== undefined ||
  /^(?:attempt|supervisor|run|stop|index|snapshot)\b|^done$/.test(name);

/** Prepares a project for each step of `job` in it, kills the job there, and lets `next` look at what is left. */
async function atEveryStep(
  job: Parameters<typeof runJob>[2],
  prepare: () => Promise<TemporaryRepository>,
  next: (project: TemporaryRepository, what: string) => Promise<void>,
  from = "",
): Promise<number> {
  const whole = await prepare();
  const report = (await runJob(worker, whole, job)) as Report;
  expect(report).toMatchObject({ ok: true });
  await next(whole, "not killed at all");
  await done(whole);
  const first = from === "" ? 0 : report.steps.findLastIndex((name) => name.startsWith(from));
  const moments = report.steps.flatMap((name, nth) => (nth >= first && isChosen(name) ? [nth + 1] : []));
  await forEachOf(moments.length, async (one) => {
    const n = moments[one - 1] ?? 0;
    const what = `killed at step ${n}, ${report.steps[n - 1]}`;
    const project = await prepare();
    const killed = await runJob(worker, project, { ...job, killAtStep: n });
    // Others write at the same time, and may have left it less to do.
    if (killed !== undefined) expect(killed, what).toMatchObject({ ok: true });
    await next(project, what);
    await done(project);
  });
  return moments.length;
}

describe("kill -9 at every step", () => {
  test("of starting a run: no agent runs without a record or twice, and the next run goes well", async () => {
    const moments = await atEveryStep(
      start("ends"),
      async () => copyProject(false),
      async (project, what) => {
        if (recorded(project).length > 0) await runJob(worker, project, WAIT);
        await runJob(worker, project, { operation: "run.list", input: {} });
        await expectNextGoesWell(project, what);
      },
      // How worktrees are made is tried step by step in start-crash.test.ts.
      "worktree ",
    );
    expect(moments).toBeGreaterThanOrEqual(4);
  }, 300_000);

  test("of writing the end down: it is written once, whole", async () => {
    const moments = await atEveryStep(
      WAIT,
      async () => {
        const project = copyProject(true);
        await expectDone(project, start("ends"), "to begin with");
        await waitFor("its end", () => attemptsIn(project).every((path) => readExit(path) !== undefined));
        return project;
      },
      async (project, what) => {
        await expectDone(project, WAIT, what);
        expectSettled(project, what);
        const state = join(project.path, ".pawl/state/tasks/T0001");
        expect(readdirSync(join(state, "handoffs")), what).toEqual(["H1.md"]);
        expect(recorded(project), what).toEqual([{ status: "succeeded", reason: undefined }]);
        expect(readFileSync(join(state, "runs/R1/run.md"), "utf8"), what).toMatch(/snapshots:\n {2}- repo/);
        await expectNextGoesWell(project, what);
      },
    );
    expect(moments).toBeGreaterThanOrEqual(4);
  }, 300_000);

  test("of settling what was lost: everything that it started is ended, and its lock is removed", async () => {
    const moments = await atEveryStep(
      WAIT,
      async () => {
        const project = await atWork();
        const [path = ""] = attemptsIn(project);
        kill(parseIdentity(owners(path).at(-1) ?? "")?.pid);
        kill(readGuard(path));
        return project;
      },
      async (project, what) => {
        await expectDone(project, WAIT, what);
        expect(recorded(project), what).toEqual([{ status: "interrupted", reason: "guard_lost" }]);
        expectSettled(project, what);
      },
    );
    expect(moments).toBeGreaterThanOrEqual(4);
  }, 300_000);

  test("of stopping a run: it is stopped, whoever finishes that", async () => {
    const moments = await atEveryStep(STOP, atWork, async (project, what) => {
      await expectDone(project, STOP, what);
      expect(recorded(project), what).toEqual([{ status: "interrupted", reason: "stopped" }]);
      expectSettled(project, what);
    });
    expect(moments).toBeGreaterThanOrEqual(4);
  }, 300_000);
});

/** An agent in the middle of its work, with a process in a session of its own and a locked index. */
async function atWork(): Promise<TemporaryRepository> {
  const project = copyProject(true);
  await expectDone(project, start("stays"), "to begin with");
  const [path = ""] = attemptsIn(project);
  await waitFor("it works", () => readFileSync(join(path, "out"), "utf8").includes("waiting"));
  await waitFor("its tool", () => markedProcesses(readSpec(path)?.mark ?? "none").length >= 4);
  return project;
}

function kill(pid: number | undefined): void {
  expect(pid).toBeGreaterThan(1);
  process.kill(pid ?? 0, "SIGKILL");
}
