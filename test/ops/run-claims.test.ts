// @module-tag proof
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import type { Project } from "../helpers/command-line.ts";
import { giveRuntime, waitFor } from "../helpers/crashed-runs.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { type Clones, makeClones } from "../helpers/two-clones.ts";

/** Runs of two clones that share a remote which a human trusts. What a claim is, is tried in claims.test.ts. */
let clones: Clones;
let built: BuiltProgram;
let ada: Project;
let ben: Project;

beforeAll(async () => {
  built = buildProgram();
  clones = makeClones(makeTemporaryFolder("run claims"));
  ({ ada, ben } = clones);
  const agents = ["ends", "stays"].map((name) => `  ${name}:\n    command: [sh, ${name}.sh]\n`).join("");
  ada.write(".pawl/config.yaml", `profile: light\nagents:\n${agents}`);
  ada.write("ends.sh", "cat > /dev/null\n");
  ada.write("stays.sh", "cat > /dev/null\necho here\nsleep 300\n");
  ada.git("add", "-A");
  ada.git("commit", "-qm", "Agents");
  ada.git("push", "-q", "origin", "main");
  ben.git("pull", "-q");
  await ok(ada.pawl("install", "--profile", "hooks", "--yes"));
  for (const name of ["One", "Two", "Three"]) await ok(ada.pawl("task", "new", name));
  await ok(ada.pawl("sync", "--yes"));
  await ok(ben.pawl("sync", "--yes"));
  for (const { path } of [ada, ben]) giveRuntime(path, built);
}, 120_000);
afterAll(() => {
  rmSync(clones.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  built?.remove();
});

const holderOf = (task: string) => {
  const refs = clones.remoteGit("for-each-ref", "--format=%(contents)", `refs/pawl/claims/${task}`);
  return /^holder: (.*)$/m.exec(refs)?.[1];
};

test("whoever resumes a run asks who has the task by now", async () => {
  await ok(ada.pawl("run", "T1", "--agent", "ends"));
  await ok(ada.pawl("run", "wait", "T1", "--for", "60s"));
  expect(holderOf("T0001")).toBeDefined();
  await ok(ben.pawl("start", "T1", "--claim"));
  // As after a day, when nobody relies on what the remote once said.
  rmSync(join(ada.path, ".git/pawl/claims/T0001.json"));
  const refused = await ada.pawl("run", "resume", "T1/R1", "--json");
  expect(refused.json.error?.code, refused.out).toBe("task_claimed");
  expect(ada.read("tasks/T0001/runs/R1/run.md").match(/- number:/g)).toHaveLength(1);
});

test("what somebody's manager works on is claimed, and free again when the manager has ended", async () => {
  await ok(ada.pawl("run", "T2", "--agent", "stays", "--mode", "manager", "--agents", "ends"));
  expect(holderOf("T0002")).toBeDefined();
  for (const words of [["--mode", "manager"], []])
    expect((await ben.pawl("run", "T2", "--agent", "ends", ...words, "--json")).json.error.code).toBe(
      "task_claimed",
    );
  await ok(ada.pawl("run", "stop", "T2", "--grace", "0s"));
  await waitFor("it is given back", () => holderOf("T0002") === undefined);
});
