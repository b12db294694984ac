// @module-tag proof
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";
import { AIMED } from "../helpers/aimed-environment.ts";

let project: RunProject;

beforeAll(() => {
  const config = `agents:
  many:
    command: [sh, -c, "yes | head -300000"]
  idle:
    command: [sh, -c, "true"]
  variables:
    command: [sh, -c, "env | grep ^GIT_ | sort"]
  slow:
    command: [sh, -c, "seq 1 300; echo waiting; sleep 3"]
`;
  project = makeRunProject("run log", undefined, config, {});
});
afterAll(() => project.remove());

async function runOf(agent: string): Promise<string> {
  const { json } = await project.pawl("task", "new", `With ${agent}`, "--json");
  const { id } = json.data.task;
  expect(await project.pawl("run", id, "--agent", agent)).toMatchObject({ code: 0 });
  return `${id}/R1`;
}

test("a log of very many lines is shown whole, and only its end if that is asked for", async () => {
  const run = await runOf("many");
  await project.pawl("run", "wait", run);
  const whole: string[] = (await project.pawl("run", "log", run)).out.trimEnd().split("\n");
  expect(whole).toHaveLength(300_000);
  expect((await project.pawl("run", "log", run, "--lines", "2")).out).toBe("y\ny\n");
});

test("whoever follows a log later sees its last lines first, as many as they want", async () => {
  const run = await runOf("slow");
  await project.waitFor("waiting", () => {
    const out = join(project.attempt(run).path, "out");
    return existsSync(out) && readFileSync(out, "utf8").includes("waiting");
  });
  const [usual, few] = await Promise.all([
    project.pawl("run", "log", run, "--follow"),
    project.pawl("run", "log", run, "--follow", "--lines", "3"),
  ]);
  expect(usual.out).toMatch(/^102\n103\n[\s\S]*\n300\nwaiting\nT/);
  expect(few.out).toMatch(/^299\n300\nwaiting\nT/);
});

test("a run that changed nothing is not offered for approval", async () => {
  const run = await runOf("idle");
  await project.pawl("run", "wait", run);
  const { out } = await project.pawl("inbox");
  expect(out).toContain(`${run} succeeded, but changed nothing`);
  expect(out).not.toContain(`pawl approve ${run.slice(0, 5)}`);
});

test("a dropped task's run is not resumed, and no agent gets no time at all", async () => {
  const run = await runOf("idle");
  const task = run.slice(0, 5);
  await project.pawl("run", "wait", run);
  expect(await project.pawl("run", "resume", run, "--time", "0s")).toMatchObject({
    ...{ code: 3, err: expect.stringContaining("--time 0s leaves the agent no time at all.") },
  });
  await project.pawl("task", "update", task, "--status", "dropped");
  expect(await project.pawl("run", "resume", run)).toMatchObject({
    ...{ code: 1, err: expect.stringContaining(`${task} is dropped; it cannot be resumed.`) },
  });
});

test("whoever drops a task is told that an agent is still at work on it", async () => {
  const run = await runOf("slow");
  const { err } = await project.pawl("task", "update", run.slice(0, 5), "--status", "dropped");
  expect(err).toContain(`${run} is still at work on it. To end that: pawl run stop ${run}`);
});

test("an agent's git is aimed at nothing of whoever starts it, and bears the name that they gave", async () => {
  const before = { ...project.env };
  const given = { GIT_AUTHOR_NAME: "Ada", GIT_SSH_COMMAND: "ssh -i key" };
  // The first three would aim this very call elsewhere.
  const { GIT_DIR, GIT_WORK_TREE, GIT_COMMON_DIR, ...aimed } = AIMED;
  Object.assign(project.env, aimed, given, { GIT_CONFIG_COUNT: "0" });
  const run = await runOf("variables");
  await project.pawl("run", "wait", run);
  const { out } = await project.pawl("run", "log", run);
  for (const name of Object.keys(project.env)) if (!(name in before)) delete project.env[name];
  expect(out.trim().split("\n")).toEqual([
    "GIT_AUTHOR_NAME=Ada",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_SSH_COMMAND=ssh -i key",
  ]);
});
