// @module-tag proof
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markedProcesses } from "../../src/agents/processes.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/** Somebody tidies up below .git while agents are at work. */
let project: RunProject;

beforeAll(() => {
  const config = `agents:
  patient:
    command: [sh, -c, "sleep 300"]
  tidy:
    command: [sh, -c, "rm -rf \\"$(git rev-parse --git-common-dir)/pawl/runs\\" || :"]
  careless:
    command: [sh, -c, "rm \\"$(git rev-parse --git-common-dir)\\"/pawl/runs/*/a1/spec.json"]
`;
  project = makeRunProject("removed", undefined, config, {});
});
afterAll(() => project.remove());

async function runOf(agent: string): Promise<string> {
  const { json } = await project.pawl("task", "new", `With ${agent}`, "--json");
  expect(await project.pawl("run", json.data.task.id, "--agent", agent)).toMatchObject({ code: 0 });
  return `${json.data.task.id}/R1`;
}

test("a run whose folder was removed is still known, and can be stopped", async () => {
  const run = await runOf("patient");
  const { path, spec } = project.attempt(run);
  rmSync(dirname(dirname(path)), { recursive: true });
  await project.waitFor("its folder", () => existsSync(join(path, "spec.json")));
  expect((await project.pawl("run", "list", run.slice(0, 5))).out).toContain(`${run}  running`);
  expect((await project.pawl("run", "stop", run)).out).toBe(`${run} interrupted (stopped)\n`);
  expect(markedProcesses(spec.mark)).toEqual([]);
});

test("a run whose folder has just been removed is stopped, not taken for one that never started", async () => {
  const run = await runOf("patient");
  const { path, spec } = project.attempt(run);
  const remove = () => rmSync(dirname(dirname(path)), { recursive: true });
  remove();
  const followed = project.start("run", "log", run, "--follow");
  await project.waitFor("its folder", () => existsSync(join(path, "spec.json")));
  expect(project.read(`tasks/${run.replace("/", "/runs/")}/run.md`)).toContain("status: running");
  followed.end();
  remove();
  expect((await project.pawl("run", "stop", run)).out).toBe(`${run} interrupted (stopped)\n`);
  expect(markedProcesses(spec.mark)).toEqual([]);
});

const untilSucceeded = (run: string) =>
  project.waitFor("the end in the records", () =>
    project.read(`tasks/${run.replace("/", "/runs/")}/run.md`).includes("status: succeeded"),
  );

test("an agent that removes the folder of its own run has ended, and the records say how", async () => {
  const run = await runOf("tidy");
  await untilSucceeded(run);
  expect((await project.pawl("run", "log", run)).out).toContain("the folder of this run was removed");
});

test("a folder that was removed in part is completed", async () => {
  await untilSucceeded(await runOf("careless"));
});
