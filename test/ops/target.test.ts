import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { ok, typing } from "../helpers/ready-task.ts";
import { makeRepository, stateOf } from "../helpers/temporary-repository.ts";

const AGENT = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
const worktree = (project: Project) => join(project.path, ".worktrees", "T0001-one");
const gitThere = (project: Project, ...args: string[]) =>
  execFileSync("git", args, { cwd: worktree(project), env: project.env, encoding: "utf8", stdio: "pipe" });

const byAgent = (project: Project, ...argv: string[]) =>
  project.pawlIn(project.path, AGENT, ...argv, "--json");

/** A light task that a human may approve for main; release/1 is one commit behind it. */
async function ready(project: Project): Promise<void> {
  project.git("branch", "release/1");
  project.commit("later.txt", "only on main\n");
  await ok(project.pawl("task", "new", "One", "--profile", "light"));
  await ok(project.pawl("start", "T1"));
  writeFileSync(join(worktree(project), "done"), "yes\n");
  gitThere(project, "add", "-A");
  gitThere(project, "commit", "-q", "-m", "Do it");
  await again(project);
}

async function again(project: Project): Promise<void> {
  const there = (...argv: string[]) => ok(project.pawlIn(worktree(project), {}, ...argv));
  await there("verify", "--", "test", "-f", "done");
  await there("handoff", "--what", "Did it", "--changed", "done", "--next", "Approve");
  await there("snapshot");
  await ok(project.pawl("check", "T1", "--stage", "close"));
}

async function reasons(project: Project): Promise<string[]> {
  const { json } = await project.pawl("check", "T1", "--stage", "close", "--json");
  return json.data.check.reasons.map((one: { code: string }) => one.code);
}

describe("where a started task goes", () => {
  test("is not for an agent to change, with whichever command it tries", async ({ project }) => {
    await ready(project);
    for (const argv of [
      ["--base", "release/1"],
      ["--repo", "elsewhere"],
    ]) {
      const { code, json } = await byAgent(project, "task", "update", "T1", ...argv);
      expect([code, json.error.code], argv.join(" ")).toEqual([1, "human_only"]);
    }
    const editor = { ...AGENT, EDITOR: "sed -i s,^base_branch:.*,base_branch:\\ release/1," };
    const edited = await project.pawlIn(project.path, editor, "task", "edit", "T1", "--json");
    expect([edited.code, edited.json.error.code]).toEqual([1, "human_only"]);
    expect(await reasons(project), "nothing changed").toEqual([]);
  });

  test("stays an agent's to choose before the start", async ({ project }) => {
    project.git("branch", "release/1");
    await ok(project.pawl("task", "new", "One"));
    const { code, err } = await byAgent(project, "task", "update", "T1", "--base", "release/1");
    expect([code, err]).toEqual([0, ""]);
    const { json } = await project.pawl("start", "T1", "--json");
    expect(json.data.run.repos[0].base_branch).toBe("release/1");
  });

  test("is changed by a human: the receipt is void, and check, approval and merge go to the new one", {
    tags: ["proof"],
  }, async ({ project }) => {
    await ready(project);
    await ok(project.pawl("task", "update", "T1", "--base", "release/1"));
    expect(await reasons(project)).toContain("base_changed");
    const human = { root: project.path, env: project.env, repos: [project] };
    const refused = await typing(human, { typed: "T0001" }, "approve", "T1");
    expect([refused.code, refused.json.error.code]).toEqual([1, "base_changed"]);
    await ok(project.pawl("refresh", "T1"));
    expect(await reasons(project), "the saved diff was one against main").toEqual(["snapshot_missing"]);
    await again(project);
    const main = project.git("rev-parse", "main");
    const { code, json } = await typing(human, { typed: "T0001" }, "approve", "T1");
    expect([code, json.data?.approval.repos[0].ref]).toEqual([0, "refs/heads/release/1"]);
    expect(project.git("rev-parse", "main")).toBe(main);
    expect(project.git("show", "release/1:done")).toBe("yes");
  });

  test("is the same for the record and the run after a start, whoever chose it", async ({ project }) => {
    const api = makeRepository(dirname(project.path), "api");
    execFileSync("git", ["branch", "release/1"], { cwd: api.path, env: api.env });
    await ok(project.pawl("repo", "add", "../api", "--base", "release/1"));
    await ok(project.pawl("task", "new", "One", "--repo", "api"));
    await ok(project.pawl("start", "T1"));
    const { json } = await project.pawl("task", "show", "T1", "--json");
    expect([json.data.task.base_branch, json.data.runs[0].repos[0].base_branch]).toEqual([
      "release/1",
      "release/1",
    ]);
  });

  test("that was written into the record past pawl closes the gate", async ({ project }) => {
    await ready(project);
    const file = join(stateOf(project), "tasks/T0001/task.md");
    writeFileSync(
      file,
      project.read("tasks/T0001/task.md").replace(/^base_branch: .*/m, "base_branch: release/1"),
    );
    expect(await reasons(project)).toContain("base_changed");
  });

  test("makes a review of what went to another branch stale", { tags: ["proof"] }, async ({ project }) => {
    await ready(project);
    await ok(project.pawl("task", "update", "T1", "--profile", "standard"));
    await ok(project.pawl("review", "record", "T1", "--kind", "branch", "--verdict", "pass"));
    expect(await reasons(project)).toEqual([]);
    await ok(project.pawl("task", "update", "T1", "--base", "release/1"));
    await ok(project.pawl("refresh", "T1"));
    expect(await reasons(project)).toContain("review_stale");
  });
});

describe("a base that is not there", () => {
  test("is refused when the task is made, and when it is changed", async ({ project }) => {
    for (const argv of [
      ["task", "new", "One", "--base", "nowhere"],
      ["task", "update", "T1", "--base", "nowhere"],
    ]) {
      const { code, json } = await project.pawl(...argv, "--json");
      expect([code, json.error.code, json.error.hint], argv.join(" ")).toEqual([
        4,
        "base_branch_missing",
        expect.stringContaining("main"),
      ]);
      await ok(project.pawl("task", "new", "One"));
    }
  });

  test("does not keep anybody from writing tasks down before the first commit", async ({ project }) => {
    project.git("update-ref", "-d", "refs/heads/main");
    await ok(project.pawl("task", "new", "One"));
  });
});

test("a target that nothing guards is said to be that", async ({ project }) => {
  project.git("branch", "release/1");
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  const words = /release\/1 of my project is not protected/;
  const made = await project.pawl("task", "new", "One", "--base", "release/1", "--profile", "light");
  expect(made.err).toMatch(words);
  const started = await project.pawl("start", "T1");
  expect(started.err).toMatch(words);
  const checked = await project.pawl("check", "T1", "--stage", "close");
  expect(checked.err).toMatch(words);
  const guarded = await project.pawl("task", "new", "Two", "--base", "main");
  expect(guarded.err).not.toMatch(/not protected/);
});
