import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owners, readGuard } from "../../src/agents/attempt/folder.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";
import { makeRepository } from "../helpers/temporary-repository.ts";

/**
 * The whole of `pawl run` with a program of the project's own in place of an agent: real supervisors, guards, worktrees
 * and records. The real agents are in test/agents/supervised-runs.test.ts.
 */
const AGENT = `
cat > "$PAWL_ATTEMPT.prompt" 2>/dev/null; rm -f "$PAWL_ATTEMPT.prompt"
echo "I am $PAWL_AGENT in $PAWL_RUN"
case "$(cat what-to-do 2>/dev/null)" in
  fail) echo "cannot" >&2; exit 3 ;;
  wait) setsid sleep 7777 & echo waiting; sleep 300 ;;
  talk) while :; do echo "still here"; sleep 0.1; done ;;
  lock) : > "$(git rev-parse --git-dir)/index.lock"; sleep 300 ;;
  *) echo work >> work.txt; git add work.txt; git commit -qm "Work of $PAWL_RUN"; node "$PAWL" decide "Do it" --why "asked to" ;;
esac
`;

let project: RunProject;
let tasks = 0;

beforeAll(() => {
  const config = "agents:\n  mine:\n    command: [sh, agent.sh]\n  other:\n    command: sh agent.sh\n";
  project = makeRunProject("run", undefined, config, { "agent.sh": AGENT });
  project.env.PAWL = join(project.path, ".pawl/pawl.cjs");
});
afterAll(() => project.remove());

async function newTask(what = "", ...more: string[]): Promise<string> {
  const { json, out } = await project.pawl("task", "new", `Task ${++tasks}`, ...more, "--json");
  if (!json.ok) throw new Error(out);
  const { id } = json.data.task;
  if (what === "") return id;
  // Its worktree has to be there for it to find this.
  await project.pawl("start", id);
  writeFileSync(join(worktreeOf(id), "what-to-do"), what);
  return id;
}

const worktreeOf = (task: string) => {
  const folder = join(project.path, ".worktrees");
  return join(folder, readdirSync(folder).find((name) => name.startsWith(task)) ?? "");
};
const recordOf = (run: string) => project.read(`tasks/${run.replace("/", "/runs/")}/run.md`);
const waitUntilItSays = (run: string, words: string) =>
  project.waitFor(words, () => {
    const { path } = project.attempt(run);
    return existsSync(join(path, "out")) && readFileSync(join(path, "out"), "utf8").includes(words);
  });

describe("an agent that ends by itself", () => {
  let task: string;
  let run: string;

  beforeAll(async () => {
    task = await newTask();
    run = `${task}/R1`;
    expect(await project.pawl("run", task, "--agent", "mine")).toMatchObject({ code: 0 });
    expect(await project.pawl("run", "wait", task)).toMatchObject({ code: 0 });
  });

  test("worked in the task's own worktree, and main is where it was", () => {
    expect(project.git("log", "-1", "--format=%s", `task/${task}-task-1`)).toBe(`Work of ${run}`);
    expect(project.git("log", "-1", "--format=%s", "main")).not.toContain("Work");
  });

  test("its record says who, how and what; its work is saved and its log is kept", () => {
    expect(recordOf(run)).toMatch(/status: succeeded\n[\s\S]*agent: mine\nrole: author\nmode: single/);
    expect(recordOf(run)).toMatch(/- number: 1\n {4}agent: mine\n {4}status: succeeded/);
    expect(recordOf(run)).toMatch(/snapshots:\n {2}- repo: my project/);
    expect(project.read(`tasks/${task}/runs/R1/log.txt`)).toContain(`I am mine in ${run}`);
  });

  test("what it recorded is an agent's, never the human's who started it, and belongs to its run", () => {
    expect(project.read(`tasks/${task}/decisions/D1.md`)).toMatch(/actor: "agent:mine:[0-9a-f-]{36}"/);
  });

  test("pawl wrote the handoff that it did not write, and no gate counts it", async () => {
    const handoff = project.read(`tasks/${task}/handoffs/H1.md`);
    expect(handoff).toMatch(/automatic: true\n[\s\S]*actor: "agent:pawl"/);
    expect(handoff).toContain("mine left no handoff.");
    const { json } = await project.pawl("check", task, "--stage", "close", "--json");
    expect(json.data.check.reasons.map((one: { code: string }) => one.code)).toContain("no_handoff");
  });

  test("its log is shown, and nothing of it is left", async () => {
    expect((await project.pawl("run", "log", run)).out).toContain(`I am mine in ${run}`);
    expect(project.left(run)).toBe(0);
    expect(readdirSync(join(project.path, ".git/pawl/runs/open"))).toEqual([]);
  });

  test("the packet was on its standard input", () => {
    const prompt = readFileSync(join(project.attempt(run).path, "in"), "utf8");
    expect(prompt).toContain(`You are the author of ${task}.`);
    expect(prompt).toContain(`- my project: ${worktreeOf(task)}, branch task/${task}-task-1`);
    expect(prompt).toContain(`# ${task} Task 1`);
  });

  test("a second run is one of its own, in the same worktree", async () => {
    expect(await project.pawl("run", task, "--agent", "other")).toMatchObject({ code: 0 });
    expect(await project.pawl("run", "wait", `${task}/R2`)).toMatchObject({ code: 0 });
    expect(recordOf(`${task}/R2`)).toContain(`within: ${run}\n`);
    expect(await project.pawl("finish", task, "--remove", "--reason", "tried")).toMatchObject({ code: 0 });
  });
});

test("one that fails says so, with its exit code and its last words", async () => {
  const task = await newTask("fail");
  const next = `next: pawl run log ${task}/R2  (what went wrong)\n`;
  const followed = await project.pawl("run", task, "--agent", "mine", "--follow");
  expect(followed).toMatchObject({ code: 1, err: next });
  expect(followed.out).toMatch(new RegExp(`cannot\n${task}/R2 failed \\(exit\\)\n$`));
  const late = await project.pawl("run", "log", task, "--follow");
  expect(late).toMatchObject({ code: 1, err: next });
  const waited = await project.pawl("run", "wait", task, "--json");
  expect(waited.code).toBe(1);
  expect(waited.json.data.runs[0]).toMatchObject({ state: "failed", reason: "exit" });
  // The worktree was taken by hand before, so the agent's run is another one.
  expect(recordOf(`${task}/R2`)).toMatch(/dirty: true[\s\S]*exit_code: 3/);
  expect((await project.pawl("run", "log", task)).out).toContain("stderr: cannot");
});

describe("stopping", () => {
  test("ends everything that it started, sessions of their own included, and a lock that is left", {
    tags: ["proof"],
  }, async () => {
    const task = await newTask("wait");
    const run = `${task}/R2`;
    await project.pawl("run", task, "--agent", "mine");
    await waitUntilItSays(run, "waiting");
    expect(project.left(run)).toBeGreaterThanOrEqual(3);
    expect(await project.pawl("run", "wait", task, "--for", "2s")).toMatchObject({
      ...{ code: 2, err: expect.stringMatching(/^Waiting for T\d+\/R2, at most 2s …$/m) },
    });
    const stopped = await project.pawl("run", "stop", task, "--grace", "1s", "--json");
    expect(stopped.json.data).toMatchObject({ was_running: true, run: { status: "interrupted" } });
    expect(project.left(run)).toBe(0);
    expect(recordOf(run)).toContain("reason: stopped");
    const again = await project.pawl("run", "stop", task, "--json");
    expect(again.json.data).toMatchObject({ was_running: false });
  });

  test("removes the lock that a killed git leaves in the worktree's index", { tags: ["proof"] }, async () => {
    const task = await newTask("lock");
    await project.pawl("run", task, "--agent", "mine");
    const lock = join(project.path, ".git/worktrees", worktreeOf(task).split("/").at(-1) ?? "", "index.lock");
    await project.waitFor("the lock", () => existsSync(lock));
    await project.pawl("run", "stop", task, "--grace", "0s");
    expect(existsSync(lock)).toBe(false);
  });

  test("while it runs nobody else gets the worktree, and nobody removes it", {
    tags: ["proof"],
  }, async () => {
    const task = await newTask("wait");
    await project.pawl("run", task, "--agent", "mine");
    const second = await project.pawl("run", task, "--agent", "other", "--json");
    expect(second).toMatchObject({ code: 5, json: { error: { code: "run_open" } } });
    const resumed = await project.pawl("run", "resume", task, "--json");
    expect(resumed).toMatchObject({ code: 5, json: { error: { code: "run_open" } } });
    const finished = await project.pawl("finish", task, "--remove", "--reason", "x", "--json");
    expect(finished).toMatchObject({ code: 5, json: { error: { code: "run_open" } } });
    await project.pawl("run", "stop", task, "--grace", "0s");
  });
});

describe("limits", () => {
  test.each([
    ["time", ["--time", "1s"], "limit_time", "It reached its time limit."],
    ["silence", ["--idle", "1s"], "limit_idle", "It was silent for longer than its limit allows."],
  ])("on %s", { tags: ["proof"] }, async (_, words, reason, blocker) => {
    const task = await newTask("wait");
    await project.pawl("run", task, "--agent", "mine", ...words);
    await project.pawl("run", "wait", task);
    expect(recordOf(`${task}/R2`)).toMatch(new RegExp(`status: interrupted[\\s\\S]*reason: ${reason}`));
    expect(project.read(`tasks/${task}/handoffs/H1.md`)).toContain(`## Blocker\n\n${blocker}\n`);
    expect(project.left(`${task}/R2`)).toBe(0);
  });

  test("one that its agent cannot tell is refused", async () => {
    const task = await newTask();
    for (const words of [
      ["--turns", "3"],
      ["--cost", "1"],
    ])
      expect(await project.pawl("run", task, "--agent", "mine", ...words, "--json")).toMatchObject({
        code: 3,
        json: { error: { code: "limit_unknown" } },
      });
    expect(existsSync(join(project.path, ".pawl/state/tasks", task, "runs"))).toBe(false);
  });
});

describe("whatever is killed", () => {
  const pidOfOwner = (run: string, number?: number) =>
    Number(owners(project.attempt(run, number).path).at(-1)?.split(".")[2]);

  test("the supervisor: the agent keeps working, a second start is refused, a new supervisor takes over", {
    tags: ["proof"],
  }, async () => {
    const task = await newTask("wait");
    const run = `${task}/R2`;
    await project.pawl("run", task, "--agent", "mine", "--time", "8s");
    await waitUntilItSays(run, "waiting");
    process.kill(pidOfOwner(run), "SIGKILL");
    expect((await project.pawl("run", task, "--agent", "mine", "--json")).json.error.code).toBe("run_open");
    await project.waitFor("a new supervisor", () => owners(project.attempt(run).path).length === 2);
    // Its limit holds again.
    await project.pawl("run", "wait", run);
    expect(recordOf(run)).toContain("reason: limit_time");
    expect(project.left(run)).toBe(0);
  });

  test("the guard: nobody can know the exit code, so it is interrupted", async () => {
    const task = await newTask("wait");
    const run = `${task}/R2`;
    await project.pawl("run", task, "--agent", "mine");
    await waitUntilItSays(run, "waiting");
    process.kill(readGuard(project.attempt(run).path), "SIGKILL");
    await project.pawl("run", "wait", run);
    expect(recordOf(run)).toMatch(/status: interrupted[\s\S]*reason: guard_lost/);
    expect(project.left(run)).toBe(0);
  });

  test("both: the next command settles it, and it can be resumed", { tags: ["proof"] }, async () => {
    const task = await newTask("wait");
    const run = `${task}/R2`;
    await project.pawl("run", task, "--agent", "mine", "--model", "big");
    await waitUntilItSays(run, "waiting");
    process.kill(pidOfOwner(run), "SIGKILL");
    process.kill(readGuard(project.attempt(run).path), "SIGKILL");
    const listed = await project.pawl("run", "list", "--json");
    const found = listed.json.data.runs.find((one: { id: string }) => one.id === run);
    expect(found).toMatchObject({
      state: "interrupted",
      reason: "guard_lost",
      next: { command: `pawl run resume ${run}` },
    });
    writeFileSync(join(worktreeOf(task), "what-to-do"), "");
    expect((await project.pawl("run", "resume", run, "Go on, please", "--json")).json.data.same_session).toBe(
      false,
    );
    expect(await project.pawl("run", "wait", run)).toMatchObject({ code: 0 });
    expect(recordOf(run)).toMatch(
      /- number: 2\n {4}agent: mine\n {4}(session: .*\n {4})?model: big\n {4}status: succeeded/,
    );
    const prompt = readFileSync(join(project.attempt(run, 2).path, "in"), "utf8");
    expect(prompt).toContain("## What the attempt before this one left");
    expect(prompt).toContain("Go on, please");
    expect(project.left(run)).toBe(0);
  });

  test("another agent may take it over", { tags: ["proof"] }, async () => {
    const task = await newTask("fail");
    const run = `${task}/R2`;
    await project.pawl("run", task, "--agent", "mine");
    await project.pawl("run", "wait", run);
    writeFileSync(join(worktreeOf(task), "what-to-do"), "");
    const limited = await project.pawl("run", "resume", run, "--agent", "other", "--turns", "3", "--json");
    expect(limited).toMatchObject({ code: 3, json: { error: { code: "limit_unknown" } } });
    await project.pawl("run", "resume", run, "--agent", "other");
    expect(await project.pawl("run", "wait", run)).toMatchObject({ code: 0 });
    expect(recordOf(run)).toMatch(/- number: 2\n {4}agent: other/);
    expect(recordOf(run)).toMatch(/holder: "agent:other:/);
  });
});

test("the inbox and the followed log show it while it runs, and after it has ended", {
  tags: ["proof"],
}, async () => {
  const task = await newTask("wait");
  const run = `${task}/R2`;
  const following = project.start("log", task, "--follow");
  await project.pawl("run", task, "--agent", "mine");
  await waitUntilItSays(run, "waiting");
  const seen = (await project.pawl("inbox", "--json")).json.data.inbox;
  expect(seen.running.map((one: { id: string }) => one.id)).toEqual([run]);
  expect(seen.needs_you.map((one: { task: string }) => one.task)).not.toContain(task);
  await project.pawl("run", "stop", task, "--grace", "0s");
  const after = (await project.pawl("inbox", "--json")).json.data.inbox;
  expect(after.running).toEqual([]);
  expect(after.needs_you.find((one: { task: string }) => one.task === task)).toMatchObject({
    run,
    command: `pawl run resume ${run}`,
  });
  await project.waitFor("the end in the followed log", () =>
    following.said().includes("interrupted: stopped"),
  );
  following.end();
});

describe("several tasks", () => {
  test("run at the same time, each in its own worktree", { tags: ["proof"] }, async () => {
    const [one, two] = [await newTask(), await newTask()];
    const { json } = await project.pawl("run", one, two, "--agent", "mine", "--json");
    expect(json.data.runs.map((each: { id: string }) => each.id)).toEqual([`${one}/R1`, `${two}/R1`]);
    expect(await project.pawl("run", "wait", one, two)).toMatchObject({ code: 0 });
  });

  test("more than --at-once: a conductor starts the others as slots become free, and ends when all have", {
    tags: ["proof"],
  }, async () => {
    const all = [await newTask(), await newTask("fail"), await newTask()];
    const { json } = await project.pawl("run", ...all, "--agent", "mine", "--at-once", "1", "--json");
    const [conductor] = json.data.runs;
    expect(conductor).toMatchObject({ role: "conductor", tasks: all, at_once: 1 });
    const waited = await project.pawl("run", "wait", conductor.id, "--for", "60s", "--json");
    expect(waited).toMatchObject({ code: 1, json: { data: { runs: [{ state: "failed" }] } } });
    const listed = await project.pawl("run", "list", "--all", "--json");
    const children = listed.json.data.runs.filter(
      (each: { parent?: string }) => each.parent === conductor.id,
    );
    expect(children.map((each: { state: string }) => each.state).sort()).toEqual([
      "failed",
      "succeeded",
      "succeeded",
    ]);
    expect((await project.pawl("run", "log", conductor.id)).out).toContain(`${all[2]}/R1 started`);
  });

  test("one that waits for another is refused before any is started", async () => {
    const first = await newTask();
    const second = await newTask("", "--depends", first);
    const refused = await project.pawl("run", first, second, "--agent", "mine", "--json");
    expect(refused).toMatchObject({ code: 1, json: { error: { code: "dependency_open" } } });
    const third = await newTask();
    await project.pawl("lane", "add", first, "--path", "src");
    await project.pawl("lane", "add", third, "--path", "src/api", "--after", first);
    const waits = await project.pawl("run", first, third, "--agent", "mine", "--json");
    expect(waits).toMatchObject({ code: 1, json: { error: { code: "lane_waits" } } });
    await project.pawl("lane", "close", `${third}/L1`);
    await project.pawl("lane", "close", `${first}/L1`);
  });
});

test("a task of two repositories: the packet names both worktrees, and both are saved", {
  tags: ["proof"],
}, async () => {
  const second = makeRepository(join(project.path, ".."), "second part");
  expect(await project.pawl("repo", "add", second.path)).toMatchObject({ code: 0 });
  const task = await newTask("", "--repo", "my project", "--repo", "second part");
  expect(await project.pawl("run", task, "--agent", "mine")).toMatchObject({ code: 0 });
  expect(await project.pawl("run", "wait", task)).toMatchObject({ code: 0 });
  const prompt = readFileSync(join(project.attempt(`${task}/R1`).path, "in"), "utf8");
  const { json } = await project.pawl("task", "show", task, "--json");
  const [{ repos, snapshots }] = json.data.runs;
  expect(repos.map((one: { name: string }) => one.name)).toEqual(["my project", "second part"]);
  for (const { name, branch } of repos) {
    const place = name === "my project" ? project.path : second.path;
    expect(prompt).toMatch(
      new RegExp(`- ${name}: ${place}/.worktrees/\\S+, branch ${branch} at [0-9a-f]{12}`),
    );
  }
  expect(snapshots.map((one: { repo: string }) => one.repo)).toEqual(["my project", "second part"]);
});

describe("refusals", () => {
  test.each([
    ["an unknown agent", ["--agent", "nobody"], 4, "no_agent"],
    ["one that is not installed", ["--agent", "codex"], 4, "agent_missing"],
    ["a wrong time", ["--agent", "mine", "--time", "soon"], 3, "bad_duration"],
    ["a wrong cost", ["--agent", "mine", "--cost", "much"], 3, "bad_cost"],
  ])("%s", async (_, words, code, name) => {
    const task = await newTask();
    const said = await project.pawl("run", task, ...words, "--json");
    expect(said).toMatchObject({ code, json: { error: { code: name } } });
    expect(existsSync(join(project.path, ".pawl/state/tasks", task, "runs"))).toBe(false);
  });

  test("a mistyped agent is answered with the one that was meant, and with all there are", async () => {
    const said = await project.pawl("run", await newTask(), "--agent", "mien", "--json");
    expect(said.json.error.hint).toMatch(/^Did you mean mine\? There are claude, codex, copilot, .*mine/);
  });

  test("agents may start, stop and resume nothing, unless the base branch says so", async () => {
    const task = await newTask();
    project.env.CLAUDECODE = "1";
    try {
      const said = await project.pawl("run", task, "--agent", "mine", "--json");
      expect(said).toMatchObject({ code: 1, json: { error: { code: "runs_are_human" } } });
    } finally {
      delete project.env.CLAUDECODE;
    }
  });
});
