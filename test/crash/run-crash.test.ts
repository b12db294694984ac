import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { owners, readExit, readGuard, readSpec } from "../../src/agents/attempt/folder.ts";
import { markedProcesses } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import {
  attemptsIn,
  type CrashedRuns,
  type Doing,
  expectDone,
  prepareRuns,
  type RunJob,
  runsIn,
  testRunKills,
  waitFor,
} from "../helpers/crashed-runs.ts";
import type { TemporaryRepository } from "../helpers/temporary-repository.ts";

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

let runs: CrashedRuns;

beforeAll(async () => {
  runs = await prepareRuns("run crash", { ".pawl/config.yaml": CONFIG, "agent.sh": AGENT }, [
    { operation: "task.new", input: { title: "Make it faster" } },
  ]);
});
afterAll(() => runs?.remove());

/** As a person at the keyboard. */
const act: Doing = (project, job) => runs.act(project, job);

const goesWell = (project: TemporaryRepository, job: RunJob, what: string) =>
  expectDone(act, project, job, what);

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
  await goesWell(project, start("ends"), what);
  await goesWell(project, WAIT, what);
  expect(recorded(project).slice(before), what).toEqual([{ status: "succeeded", reason: undefined }]);
  expectSettled(project, what);
}

describe("kill -9", () => {
  testRunKills("of starting a run: no agent runs without a record or twice, and the next run goes well", {
    job: start("ends"),
    act,
    prepare: async () => runs.copy(false),
    async next(project, what) {
      if (recorded(project).length > 0) await act(project, WAIT);
      await act(project, { operation: "run.list", input: {} });
      await expectNextGoesWell(project, what);
    },
    // How worktrees are made is tried step by step in start-crash.test.ts.
    from: "worktree ",
    decided: "supervisor",
  });

  testRunKills("of writing the end down: it is written once, whole", {
    job: WAIT,
    act,
    async prepare() {
      const project = runs.copy(true);
      await goesWell(project, start("ends"), "to begin with");
      await waitFor("its end", () => attemptsIn(project).every((path) => readExit(path) !== undefined));
      return project;
    },
    async next(project, what) {
      await goesWell(project, WAIT, what);
      expectSettled(project, what);
      const state = join(project.path, ".pawl/state/tasks/T0001");
      expect(readdirSync(join(state, "handoffs")), what).toEqual(["H1.md"]);
      expect(recorded(project), what).toEqual([{ status: "succeeded", reason: undefined }]);
      expect(readFileSync(join(state, "runs/R1/run.md"), "utf8"), what).toMatch(/snapshots:\n {2}- repo/);
      await expectNextGoesWell(project, what);
    },
  });

  testRunKills("of settling what was lost: everything that it started is ended, and its lock is removed", {
    job: WAIT,
    act,
    async prepare() {
      const project = await atWork();
      const [path = ""] = attemptsIn(project);
      kill(parseIdentity(owners(path).at(-1) ?? "")?.pid);
      kill(readGuard(path));
      return project;
    },
    async next(project, what) {
      await goesWell(project, WAIT, what);
      expect(recorded(project), what).toEqual([{ status: "interrupted", reason: "guard_lost" }]);
      expectSettled(project, what);
    },
  });

  testRunKills("of stopping a run: it is stopped, whoever finishes that", {
    job: STOP,
    decided: "stop request",
    act,
    prepare: atWork,
    async next(project, what) {
      await goesWell(project, STOP, what);
      expect(recorded(project), what).toEqual([{ status: "interrupted", reason: "stopped" }]);
      expectSettled(project, what);
    },
  });
});

/** An agent in the middle of its work, with a process in a session of its own and a locked index. */
async function atWork(): Promise<TemporaryRepository> {
  const project = runs.copy(true);
  await goesWell(project, start("stays"), "to begin with");
  const [path = ""] = attemptsIn(project);
  await waitFor("it works", () => readFileSync(join(path, "out"), "utf8").includes("waiting"));
  await waitFor("its tool", () => markedProcesses(readSpec(path)?.mark ?? "none").length >= 4);
  return project;
}

function kill(pid: number | undefined): void {
  expect(pid).toBeGreaterThan(1);
  process.kill(pid ?? 0, "SIGKILL");
}
