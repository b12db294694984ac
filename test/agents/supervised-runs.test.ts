// @module-tag proof
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owners, readExit } from "../../src/agents/attempt/folder.ts";
import { markedProcesses } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type ScriptedModel, type Step, startModel } from "./scripted-model.ts";
import { makeRunProject, type RunProject, type SupervisedName } from "./supervised.ts";

/**
 * The real programs under `pawl run`, against a scripted model: how each ends, fails, is stopped and goes on. What their
 * exit codes and streams mean is pinned here: a new version that changes it fails a test, not a user's run.
 */
const NAMES: readonly SupervisedName[] = ["claude", "codex", "copilot"];
/**
 * A program that is killed may not have saved that the model asked for it: the model asks again, and then it is quick.
 */
const TOOL = "[ -e mid-tool ] || { touch mid-tool; sleep 120; }";
/** Goes on when the test says so, and not for ever if the test has failed. */
const WAITING =
  "touch mid-tool; for i in $(seq 600); do [ -e go-on ] && break; sleep 0.1; done; touch after-tool";

/**
 * What each program exits with, measured. It is not what a run is judged by: two of three exit with 0 when they are
 * interrupted, and one that a signal ended is told as 128 and its number.
 */
const EXITS = {
  claude: { well: 0, 400: 1, 401: 0, 429: 0, 500: 0, stopped: 0, "unknown session": 1 },
  codex: { well: 0, 400: 1, 401: 1, 429: 1, 500: 1, stopped: 1, "unknown session": 1 },
  copilot: { well: 0, 400: 1, 401: 1, 429: 1, 500: 1, stopped: 0, "unknown session": 1 },
} as const;

/** Claude goes on trying for minutes where it may come to an end by itself; a limit of ours does not wait for it. */
const REFUSALS = {
  claude: { 400: "model_error", 401: "model_auth", 429: "limit_time", 500: "limit_time" },
  codex: { 400: "model_error", 401: "model_auth", 429: "model_rate", 500: "model_error" },
  copilot: { 400: "model_error", 401: "model_auth", 429: "model_rate", 500: "model_error" },
} as const;
const STATUSES = [400, 401, 429, 500] as const;

let project: RunProject;
let model: ScriptedModel | undefined;
let tasks = 0;

beforeAll(async () => {
  project = makeRunProject("supervised", await realPrograms());
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await model?.close();
  project?.remove();
});

async function aim(script: readonly Step[]): Promise<void> {
  await model?.close();
  model = await startModel(script);
  project.aimAt(model.url);
}

async function newTask(name: SupervisedName): Promise<string> {
  const { json } = await project.pawl("task", "new", `With ${name} ${++tasks}`, "--json");
  return json.data.task.id;
}

async function begin(name: SupervisedName, script: readonly Step[], ...words: string[]) {
  await aim(script);
  const task = await newTask(name);
  const started = await project.pawl("run", task, "--agent", name, ...words);
  expect(started.code, started.err).toBe(0);
  return { task, run: `${task}/R1` };
}

async function end(run: string, seconds = 120) {
  const { code, json, err } = await project.pawl("run", "wait", run, "--for", `${seconds}s`, "--json");
  expect(json, err).toBeDefined();
  return { code, standing: json.data.runs[0] };
}

/** One of them may take others with it, or be gone by the time it is its turn. */
function killAll(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

async function supervisorOf(run: string): Promise<number> {
  const { path } = project.attempt(run);
  const pid = () => parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
  await project.waitFor("the supervisor", () => pid() > 0);
  return pid();
}

const worktree = (task: string, name: string) =>
  join(project.path, ".worktrees", `${task}-with-${name}-${tasks}`);
const letGoOn = (task: string, name: string) => writeFileSync(join(worktree(task, name), "go-on"), "");
/** The message with which a conversation goes on says as well who the agent is. */
const ONLY_IN_PACKET = "## Where you work";
const exitCode = (run: string, number = 1) => readExit(project.attempt(run, number).path)?.code;

describe.each(NAMES)("%s", (name) => {
  const { shell, mcp } = dialects[name];
  const commit = { call: shell("echo hi > a.txt && git add -A && git commit -qm Work") };
  const refused = new Map<string, (typeof STATUSES)[number]>();
  const asked = new Set<string>();
  let refusing: ScriptedModel | undefined;

  // Programs that are refused try again for half a minute: they do it while the other tests are run.
  beforeAll(async () => {
    for (const status of STATUSES) refused.set(await newTask(name), status);
    refusing = await startModel([], {
      fail(text) {
        const task = /You are the author of (T\d+)\./.exec(text)?.[1] ?? "";
        asked.add(task);
        return refused.get(task);
      },
    });
    project.aimAt(refusing.url);
    for (const [task, status] of refused) {
      const isSlow = REFUSALS[name][status] === "limit_time";
      const started = await project.pawl("run", task, "--agent", name, ...(isSlow ? ["--time", "10s"] : []));
      expect(started.code, started.err).toBe(0);
    }
    // By then each has read where its model is, and the next test may aim the programs at another one.
    const knows = (task: string) =>
      asked.has(task) || readExit(project.attempt(`${task}/R1`).path) !== undefined;
    await project.waitFor("all of them to ask", () => [...refused.keys()].every(knows));
  });
  afterAll(() => refusing?.close());

  test("succeeds: its commits, evidence and handoff carry its name, and usage is recorded", async () => {
    const { task, run } = await begin(name, [
      commit,
      { call: mcp("verify", { command: ["true"] }) },
      { call: mcp("handoff", { what: "Done", next: "review it" }) },
      { say: "All done." },
    ]);
    expect(await end(run)).toMatchObject({
      code: 0,
      standing: { state: "succeeded", usage: { input: 40, output: 20 } },
    });
    expect(exitCode(run)).toBe(EXITS[name].well);
    expect(project.git("log", "-1", "--format=%s", `task/${task}-with-${name}-${tasks}`)).toBe("Work");
    expect(project.read(`tasks/${task}/evidence/E1.md`)).toContain(`run: ${run}\n`);
    expect(project.read(`tasks/${task}/handoffs/H1.md`)).toMatch(/automatic: false\n[\s\S]*actor: "agent:/);
    expect(existsSync(join(project.path, `.pawl/state/tasks/${task}/handoffs/H2.md`))).toBe(false);
    const log = (await project.pawl("run", "log", run)).out;
    expect(log).toContain("git commit -qm Work");
    expect(log).toContain("All done.");
    expect(model?.requests[0]?.text).toContain(`You are the author of ${task}.`);
  });

  test("stopped during a tool: interrupted whatever its exit code, no process is left, and it can resume", async () => {
    const { task, run } = await begin(name, [{ call: shell(TOOL) }, { say: "Went on." }]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    expect(project.left(run)).toBeGreaterThanOrEqual(3);
    const stopped = await project.pawl("run", "stop", run, "--json");
    expect(stopped.json.data.run).toMatchObject({ status: "interrupted", attempts: [{ reason: "stopped" }] });
    expect(exitCode(run)).toBe(EXITS[name].stopped);
    expect(project.left(run)).toBe(0);
    const resumed = await project.pawl("run", "resume", run, "Please go on", "--json");
    expect(resumed.code, resumed.out).toBe(0);
    expect(resumed.json.data.same_session).toBe(true);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded", attempts: 2 } });
    expect(model?.requests.at(-1)?.text).toContain("Please go on");
    expect(model?.requests.at(-1)?.text).toContain(
      `You are the author of ${task}. You were stopped in ${run}.`,
    );
    expect(model?.requests.at(-1)?.text).toContain(ONLY_IN_PACKET);
    const sessions = project.read(`tasks/${task}/runs/R1/run.md`).match(/^ {4}session: .*/gm);
    expect(new Set(sessions).size).toBe(1);
  });

  test("everything killed at once during a tool: interrupted, and the same conversation resumes", async () => {
    const { task, run } = await begin(name, [{ call: shell(TOOL) }, { say: "Went on." }]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    const { path, spec } = project.attempt(run);
    // Killed before it has saved its conversation, a program has none to go on with. The message itself has to be there:
    // Copilot saves sooner what it told its hooks about it.
    const message = new RegExp(`"(?:content|text)": ?"You are the author of ${task}\\.`);
    await project.waitFor("its session", () => existsSync(join(path, "progress.json")));
    await project.waitFor("its conversation", () => project.hasSaved(message));
    killAll([await supervisorOf(run), ...markedProcesses(spec.mark).map((one) => one.pid)]);
    expect(await end(run)).toMatchObject({
      code: 1,
      standing: { state: "interrupted", reason: "guard_lost" },
    });
    expect((await project.pawl("run", "resume", run, "--json")).json.data.same_session).toBe(true);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
    expect(model?.requests.at(-1)?.text).toContain(ONLY_IN_PACKET);
  });

  test("the supervisor alone is killed: the agent continues, and its end is recorded", async () => {
    const { task, run } = await begin(name, [{ call: shell(WAITING) }, { say: "All done." }]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    killAll([await supervisorOf(run)]);
    letGoOn(task, name);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
    expect(readExit(project.attempt(run).path)).toMatchObject({ code: 0, by: "guard" });
  });

  test("the terminal is closed during a tool: the agent continues, and its end is recorded", async () => {
    await aim([{ call: shell(WAITING) }, { say: "All done." }]);
    const task = await newTask(name);
    const run = `${task}/R1`;
    const terminal = project.onTerminal("run", task, "--agent", name, "--follow");
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    await project.waitFor("a line of its log", () => terminal.said().includes("mid-tool"));
    await terminal.close();
    expect(existsSync(join(worktree(task, name), "after-tool"))).toBe(false);
    letGoOn(task, name);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
    expect(existsSync(join(worktree(task, name), "after-tool"))).toBe(true);
    expect(readExit(project.attempt(run).path)).toMatchObject({ code: 0, by: "guard" });
  });

  test("a reviewer has our tools but cannot edit files", async () => {
    const { task, run } = await begin(
      name,
      [{ call: mcp("session", {}) }, { call: shell("touch made-by-reviewer") }, { say: "Reviewed." }],
      "--role",
      "reviewer",
    );
    await end(run);
    expect(model?.requests[1]?.news).toContain(task);
    expect(existsSync(join(worktree(task, name), "made-by-reviewer"))).toBe(false);
    const prompt = readFileSync(join(project.attempt(run).path, "in"), "utf8");
    expect(prompt).toContain(`You review ${task}.`);
  });

  test("the model answers 400, 401, 429, 500: each run fails for its own reason, and no process is left", async () => {
    for (const [task, status] of refused) {
      const reason = REFUSALS[name][status];
      const state = reason === "limit_time" ? "interrupted" : "failed";
      expect((await end(`${task}/R1`)).standing, `${status}`).toMatchObject({ state, reason });
      expect(exitCode(`${task}/R1`), `exit code after ${status}`).toBe(EXITS[name][status]);
      expect(project.left(`${task}/R1`)).toBe(0);
    }
  }, 180_000);

  test("its conversation is lost: resuming fails and says so, and a new conversation continues", async () => {
    const { run } = await begin(name, [{ say: "Once." }]);
    await end(run);
    project.forgetSessions();
    await project.pawl("run", "resume", run);
    expect((await end(run)).standing).toMatchObject({ state: "failed", attempts: 2 });
    expect(exitCode(run, 2)).toBe(EXITS[name]["unknown session"]);
    const fresh = await project.pawl("run", "resume", run, "--fresh", "--json");
    expect(fresh.json.data.same_session).toBe(false);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded", attempts: 3 } });
  });
});
