import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { readExit, readSpec } from "../../src/agents/attempt/folder.ts";
import { markedProcesses } from "../../src/agents/processes.ts";
import type { Message } from "../../src/model/records/parts.ts";
import type { Run } from "../../src/model/records/run.ts";
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
import type { Report } from "../helpers/operation-worker.ts";
import { inspectStore } from "../helpers/store-verifier.ts";
import { stateOf, type TemporaryRepository } from "../helpers/temporary-repository.ts";

/**
 * kill -9 at every step of a manager being started, and of what it starts being started, resumed, ended and settled. The
 * commands are the manager's own, because what it may do is known from its processes; whichever is killed, the manager goes on,
 * and what it has started is counted, reported and settled once.
 */
const BOSS = `
jobs="$(git rev-parse --path-format=absolute --git-common-dir)/jobs"
[ -d "$jobs" ] || mkdir "$jobs"
[ -p "$jobs/next" ] || mkfifo "$jobs/next"
exec 3<> "$jobs/next"
: > "$jobs/listening"
while read -r job <&3; do
  [ "$job" = quit ] && exit 0
  node "$WORKER" "$(cat "$jobs/$job")" > "$jobs/$job.out" 2>&1
  echo $? > "$jobs/$job.code.new"
  mv "$jobs/$job.code.new" "$jobs/$job.code"
done
`;
const AGENT = 'echo "$PAWL_ATTEMPT" >> "$(git rev-parse --path-format=absolute --git-common-dir)/ledger"\n';
const CONFIG =
  "profile: light\nagents:\n  boss:\n    command: [sh, boss.sh]\n  ends:\n    command: [sh, agent.sh]\n";

const CHILD = "T0002/R1";
const MANAGE: RunJob = {
  operation: "run",
  input: { task: ["T0001"], agent: "boss", mode: "manager", agents: ["ends"], in_all: 3 },
};
const START: RunJob = { operation: "run", input: { task: ["T0002"], agent: "ends" } };
const waits = (run: string): RunJob => ({ operation: "run.wait", input: { run: [run], for: "60s" } });
const LOOK: RunJob = { operation: "run.list", input: {} };
/** Whoever writes next finishes what a killed command had begun to write. */
const WRITE: RunJob = { operation: "note.add", input: { title: "Somebody wrote this" } };
const settle = (run: string, outcome: string): RunJob => ({
  operation: "run.settle",
  input: { run, outcome, why: "It was tried" },
});

let runs: CrashedRuns;
let jobs = 0;

beforeAll(async () => {
  runs = await prepareRuns(
    "manager crash",
    { ".pawl/config.yaml": CONFIG, "agent.sh": AGENT, "boss.sh": BOSS },
    [
      { operation: "task.new", input: { title: "Whole", plan: "One part" } },
      { operation: "task.new", input: { title: "Part", parent: "T0001" } },
    ],
  );
  runs.env.WORKER = runs.worker;
});
afterAll(() => runs?.remove());

/** As a person at the keyboard. */
const act: Doing = (project, job) => runs.act(project, job);

const jobsOf = ({ path }: TemporaryRepository) => join(path, ".git/jobs");

/** Done by a process of the manager's own. */
const asManager: Doing = async (project, job) => {
  const name = `job${++jobs}`;
  const file = join(jobsOf(project), name);
  writeFileSync(file, JSON.stringify({ cwd: project.path, ...job }));
  writeFileSync(join(jobsOf(project), "next"), `${name}\n`);
  await waitFor(`${name} is done`, () => existsSync(`${file}.code`));
  const out = readFileSync(`${file}.out`, "utf8");
  const code = Number(readFileSync(`${file}.code`, "utf8"));
  if (code === 137) return undefined;
  expect(code, out).toBe(0);
  return JSON.parse(out.trim().split("\n").at(-1) ?? "") as Report;
};

async function managed(alone: boolean): Promise<TemporaryRepository> {
  const project = runs.copy(alone);
  await expectDone(act, project, MANAGE, "the manager");
  await waitFor("the manager listens", () => isListening(project));
  return project;
}

const isListening = (project: TemporaryRepository) => existsSync(join(jobsOf(project), "listening"));

/** The records, whole, as a stranger reads them. */
function recordsOf(project: TemporaryRepository, what: string) {
  const { records, violations } = inspectStore(stateOf(project));
  const { torn, duplicateIds, missingEvents, surplusEvents } = violations;
  expect([...torn, ...duplicateIds, ...missingEvents, ...surplusEvents], what).toEqual([]);
  const values = <T>(kind: string) =>
    records.filter((one) => one.kind === kind).map(({ value }) => value as unknown as T);
  const all = values<Run>("run");
  return {
    manager: all.findLast((one) => one.role === "manager"),
    open: all.filter((one) => one.role === "manager" && one.attempts.at(-1)?.ended === undefined),
    children: all.filter((one) => one.id.startsWith("T0002/") && one.attempts.length > 0),
    reports: values<Message>("message").filter((one) => one.report),
  };
}

/** What was started is the manager's, ended, told once and nowhere doubled; every agent that began is in the records. */
function expectAccounted(project: TemporaryRepository, what: string): void {
  const { manager, children, reports } = recordsOf(project, what);
  expect(manager?.children, what).toEqual(children.map((one) => one.id));
  const attempts = children.flatMap((one) => one.attempts.map((each) => ({ run: one.id, ...each })));
  expect(
    attempts.filter((one) => one.ended === undefined),
    what,
  ).toEqual([]);
  expect(
    children.map((one) => one.parent).filter((one) => one !== manager?.id),
    what,
  ).toEqual([]);
  expect(reports.map((one) => one.run).sort(), what).toEqual(attempts.map((one) => one.run).sort());
  const file = join(project.path, ".git/ledger");
  const began = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  expect(new Set(began).size, `${what}: an agent was started twice`).toBe(began.length);
  expect(attempts.filter((one) => one.reason !== "never_started").length, what).toBe(began.length);
  for (const path of attemptsIn(project).filter((one) => one.includes("T0002.")))
    expect(markedProcesses(readSpec(path)?.mark ?? "none"), what).toEqual([]);
}

/** Reads and settles all that there is and hands over: then its run has ended well, whatever was killed before. */
async function accountFor(project: TemporaryRepository, what: string): Promise<void> {
  expectAccounted(project, what);
  const { reports, children, manager } = recordsOf(project, what);
  for (const { id } of reports.filter((one) => one.status === "open"))
    await expectDone(asManager, project, { operation: "mail.ack", input: { message: id } }, what);
  for (const { id, settled, attempts } of children)
    if (settled.at(-1)?.attempt !== attempts.at(-1)?.number)
      await expectDone(asManager, project, settle(id, "abandon"), what);
  const words = { task: "T0001", what: "It was tried", next: "look at it" };
  await expectDone(asManager, project, { operation: "handoff", input: words }, what);
  await quit(project);
  // While its end is being written, files read one after the other need not agree.
  await expectDone(act, project, waits(manager?.id ?? ""), what);
  expect(recordsOf(project, what).manager, what).toMatchObject({ status: "succeeded" });
  expect(readdirSync(join(runsIn(project), "open")), what).toEqual([]);
}

async function quit(project: TemporaryRepository): Promise<void> {
  writeFileSync(join(jobsOf(project), "next"), "quit\n");
  await waitFor("the manager is gone", () =>
    attemptsIn(project).every((path) => readExit(path) !== undefined),
  );
}

describe("kill -9", () => {
  testRunKills("of starting a manager: the next command starts one, and one alone", {
    job: MANAGE,
    act,
    prepare: async () => runs.copy(false),
    async next(project, what) {
      // One whose command was killed before its process came is waited for a while, and has ended then.
      for (let tries = 0; !isListening(project) && tries < 100; tries++) {
        const again = await act(project, MANAGE);
        if (again && !again.ok) expect(again.code, what).toBe("run_open");
        await sleep(100);
      }
      await expectDone(act, project, WRITE, what);
      expect(recordsOf(project, what).open, what).toHaveLength(1);
      await accountFor(project, what);
    },
  });

  testRunKills("of starting what it starts: it is counted and told once, and the next start goes well", {
    job: START,
    act: asManager,
    prepare: () => managed(false),
    async next(project, what) {
      await expectDone(act, project, LOOK, what);
      // Refused where nothing was started; else nothing of it is written any more when it answers.
      await asManager(project, waits("T0002"));
      await expectDone(act, project, WRITE, what);
      expectAccounted(project, what);
      await expectDone(asManager, project, START, what);
      await expectDone(asManager, project, waits("T0002"), what);
      await accountFor(project, what);
    },
    from: "worktree ",
  });

  testRunKills("of writing its end down: the manager has one report of it", {
    job: waits(CHILD),
    act,
    prepare: ended,
    async next(project, what) {
      await expectDone(act, project, waits(CHILD), what);
      expectAccounted(project, what);
      await quit(project);
    },
  });

  testRunKills("of resuming it: each attempt is counted and told once", {
    job: { operation: "run.resume", input: { run: CHILD } },
    act: asManager,
    prepare: read,
    async next(project, what) {
      await expectDone(act, project, LOOK, what);
      await expectDone(asManager, project, waits(CHILD), what);
      expectAccounted(project, what);
      await quit(project);
    },
  });

  testRunKills("of settling it: it is settled or not, and said again it is", {
    job: settle(CHILD, "abandon"),
    act: asManager,
    prepare: read,
    async next(project, what) {
      await expectDone(act, project, WRITE, what);
      const { children } = recordsOf(project, what);
      expect(children[0]?.settled.length ?? 0, what).toBeLessThanOrEqual(1);
      await expectDone(asManager, project, settle(CHILD, "abandon"), what);
      const [child] = recordsOf(project, what).children;
      expect(new Set(child?.settled.map((one) => `${one.attempt} ${one.outcome}`)), what).toEqual(
        new Set(["1 abandon"]),
      );
      await accountFor(project, what);
    },
  });
});

/** What the manager started has ended, and nobody has written that down. */
async function ended(): Promise<TemporaryRepository> {
  const project = await managed(true);
  await expectDone(asManager, project, START, "to begin with");
  const path = join(runsIn(project), "T0002.R1/a1");
  await waitFor("its end", () => readExit(path) !== undefined);
  return project;
}

/** It is written down, and its report is read. */
async function read(): Promise<TemporaryRepository> {
  const project = await ended();
  await expectDone(act, project, waits(CHILD), "to begin with");
  await expectDone(asManager, project, { operation: "mail.ack", input: { message: "T0001/M1" } }, "read");
  return project;
}
