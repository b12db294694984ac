import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owners, readExit } from "../../src/agents/attempt/folder.ts";
import { markedProcesses } from "../../src/agents/processes.ts";
import { PROGRAMS_TIMEOUT_MS, type ProgramName, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type ScriptedModel, type Step, startModel } from "./scripted-model.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/**
 * The real programs under `pawl run`, against a scripted model: how each ends, fails, is stopped and goes on. What their
 * exit codes and streams mean is pinned here: a new version that changes it fails a test, not a user's run.
 */
const NAMES: readonly ProgramName[] = ["claude", "codex", "copilot"];
const TOOL = "touch mid-tool; sleep 120";

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

async function begin(name: ProgramName, script: readonly Step[], options = {}, ...words: string[]) {
  await model?.close();
  model = await startModel(script, options);
  project.aimAt(model.url);
  const { json } = await project.pawl("task", "new", `With ${name} ${++tasks}`, "--json");
  const task: string = json.data.task.id;
  const started = await project.pawl("run", task, "--agent", name, ...words);
  expect(started.code, started.err).toBe(0);
  return { task, run: `${task}/R1` };
}

async function end(run: string, seconds = 90) {
  const { code, json, err } = await project.pawl("run", "wait", run, "--for", `${seconds}s`, "--json");
  expect(json, err).toBeDefined();
  return { code, standing: json.data.runs[0] };
}

const worktree = (task: string, name: string) =>
  join(project.path, ".worktrees", `${task}-with-${name}-${tasks}`);
const exitCode = (run: string, number = 1) => readExit(project.attempt(run, number).path)?.code;

describe.each(NAMES)("%s", (name) => {
  const { shell, mcp } = dialects[name];
  const commit = { call: shell("echo hi > a.txt && git add -A && git commit -qm Work") };

  test("ends well: commits, evidence and handoff are its own, usage is recorded", async () => {
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
    expect(exitCode(run)).toBe(0);
    expect(project.git("log", "-1", "--format=%s", `task/${task}-with-${name}-${tasks}`)).toBe("Work");
    expect(project.read(`tasks/${task}/evidence/E1.md`)).toContain(`run: ${run}\n`);
    expect(project.read(`tasks/${task}/handoffs/H1.md`)).toMatch(/automatic: false\n[\s\S]*actor: "agent:/);
    expect(existsSync(join(project.path, `.pawl/state/tasks/${task}/handoffs/H2.md`))).toBe(false);
    const log = (await project.pawl("run", "log", run)).out;
    expect(log).toContain("git commit -qm Work");
    expect(log).toContain("All done.");
    expect(model?.requests[0]?.text).toContain(`You are the author of ${task}.`);
  });

  // Claude goes on trying for minutes where it may come to an end by itself; a limit of ours does not wait for it.
  test.each([
    [400, "failed", "model_error"],
    [401, "failed", "model_auth"],
    [429, name === "claude" ? "interrupted" : "failed", name === "claude" ? "limit_time" : "model_rate"],
    [500, name === "claude" ? "interrupted" : "failed", name === "claude" ? "limit_time" : "model_error"],
  ] as const)("the model answers %s", async (status, state, reason) => {
    const slow = name === "claude" && status >= 429 ? ["--time", "8s"] : [];
    const { run } = await begin(name, [], { fail: status }, ...slow);
    const { code, standing } = await end(run);
    expect({ code, state: standing.state, reason: standing.reason }).toEqual({ code: 1, state, reason });
    expect(project.left(run)).toBe(0);
  });

  test("stopped in the middle of a tool: interrupted whatever it exits with, nothing of it is left, and it goes on", async () => {
    const { task, run } = await begin(name, [{ call: shell(TOOL) }, { say: "Went on." }]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    expect(project.left(run)).toBeGreaterThanOrEqual(3);
    const stopped = await project.pawl("run", "stop", run, "--json");
    expect(stopped.json.data.run).toMatchObject({ status: "interrupted", attempts: [{ reason: "stopped" }] });
    expect(project.left(run)).toBe(0);
    const resumed = await project.pawl("run", "resume", run, "Please go on", "--json");
    expect(resumed.code, resumed.out).toBe(0);
    expect(resumed.json.data.same_session).toBe(true);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded", attempts: 2 } });
    expect(model?.requests.at(-1)?.text).toContain("Please go on");
    expect(model?.requests.at(-1)?.text).toContain(`You are the author of ${task}.`);
    const sessions = project.read(`tasks/${task}/runs/R1/run.md`).match(/^ {4}session: .*/gm);
    expect(new Set(sessions).size).toBe(1);
  });

  test("everything killed at once in the middle of a tool: interrupted, and the same conversation goes on", async () => {
    const { task, run } = await begin(name, [{ call: shell(TOOL) }, { say: "Went on." }]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    const { path, spec } = project.attempt(run);
    await project.waitFor("its session", () => existsSync(join(path, "progress.json")));
    process.kill(Number(owners(path).at(-1)?.split(".")[2]), "SIGKILL");
    for (const { pid } of markedProcesses(spec.mark)) process.kill(pid, "SIGKILL");
    expect(await end(run)).toMatchObject({
      code: 1,
      standing: { state: "interrupted", reason: "guard_lost" },
    });
    expect((await project.pawl("run", "resume", run, "--json")).json.data.same_session).toBe(true);
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
    expect(model?.requests.at(-1)?.text).toContain(`You are the author of ${task}.`);
  });

  test("the supervisor alone is killed: the agent goes on, and its end is known", async () => {
    const { task, run } = await begin(name, [
      { call: shell("touch mid-tool; sleep 3") },
      { say: "All done." },
    ]);
    await project.waitFor("the tool", () => existsSync(join(worktree(task, name), "mid-tool")));
    process.kill(Number(owners(project.attempt(run).path).at(-1)?.split(".")[2]), "SIGKILL");
    expect(await end(run)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
    expect(readExit(project.attempt(run).path)).toMatchObject({ code: 0, by: "guard" });
  });

  test("a reviewer has our tools, and neither an editor nor a shell that could change anything", async () => {
    const { task, run } = await begin(
      name,
      [{ call: mcp("session", {}) }, { call: shell("touch made-by-reviewer") }, { say: "Reviewed." }],
      {},
      "--role",
      "reviewer",
    );
    await end(run);
    expect(model?.requests[1]?.news).toContain(task);
    expect(existsSync(join(worktree(task, name), "made-by-reviewer"))).toBe(false);
    const prompt = readFileSync(join(project.attempt(run).path, "in"), "utf8");
    expect(prompt).toContain(`You review ${task}.`);
  });
});
