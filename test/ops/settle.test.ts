import { join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";

const AGENT = { CODEX_SESSION_ID: "s1" };
const codes = (result: { json: { data: { check: { reasons: { code: string }[] } } } }) =>
  result.json.data.check.reasons.map((one) => one.code);

async function begun(project: Project, config: string): Promise<Project> {
  project.commit(".pawl/config.yaml", config);
  await ok(project.pawl("start", "Fix the typo in the docs"));
  return openProject({ ...project, path: join(project.path, ".worktrees/T0001-fix-the-typo-in-the-docs") });
}

test("start takes a title: the task is written down with the config's profile, and begun", async ({
  project,
}) => {
  const there = await begun(project, "profile: light\n");
  const { json } = await project.pawl("task", "show", "T1", "--json");
  expect(json.data.task).toMatchObject({
    title: "Fix the typo in the docs",
    profile: "light",
    status: "active",
  });
  expect(there.git("branch", "--show-current")).toBe("task/T0001-fix-the-typo-in-the-docs");
  expect(await project.pawl("start", "banana")).toMatchObject({ code: 3 });
  const dry = await ok(project.pawl("start", "Another small thing", "--dry-run"));
  expect(dry.out + dry.err).toContain("Another small thing");
  expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(1);
});

describe("check --fix", () => {
  test("by an agent: everything up to the human's question", async ({ project }) => {
    const there = await begun(project, "profile: light\nchecks:\n  test: test -f fixed.txt\n");
    there.commit("fixed.txt", "fixed\n");
    expect(codes(await there.pawl("check", "--json"))).toEqual([
      "check_missing",
      "no_handoff",
      "snapshot_missing",
    ]);
    const fixed = await there.pawlIn(there.path, AGENT, "check", "--fix", "--json");
    expect([fixed.code, fixed.json.data.check.ready]).toEqual([0, true]);
    expect(fixed.json.data.check.settled).toEqual([
      "my project: test passed",
      "T0001/H1 was written from the commits",
      "the diff was saved",
    ]);
    expect(fixed.json.next.command).toBe("pawl approve T0001");
    expect(project.read("tasks/T0001/handoffs/H1.md")).toContain("from_commits: true");
    expect(project.read("tasks/T0001/handoffs/H1.md")).toContain("1 commit: Change fixed.txt");
    expect(await there.pawlIn(there.path, AGENT, "approve", "--finish")).toMatchObject({ code: 1 });
  });

  test("brings a moved base in, and repeats the checks", async ({ project }) => {
    const there = await begun(project, "profile: light\nchecks:\n  test: test -f fixed.txt\n");
    there.commit("fixed.txt", "fixed\n");
    await ok(there.pawl("check", "--fix"));
    project.commit("other.txt", "a colleague's\n");
    expect(codes(await there.pawl("check", "--json"))).toEqual(["base_moved"]);
    await ok(there.pawl("check", "--fix"));
    expect(there.git("ls-files")).toContain("other.txt");
  });

  test("leaves to others what is theirs, and settles the rest all the same", async ({ project }) => {
    const there = await begun(project, "checks:\n  test: test -f fixed.txt\n");
    there.commit("fixed.txt", "fixed\n");
    expect(codes(await there.pawl("check", "--fix", "--json"))).toEqual(["review_missing"]);
  });

  test("nothing is checked or saved that is not committed, and a failing check stays a reason", async ({
    project,
  }) => {
    const there = await begun(project, "profile: light\nchecks:\n  test: test -f absent.txt\n");
    there.write("fixed.txt", "fixed\n");
    const open = await there.pawl("check", "--fix", "--json");
    expect(codes(open)).toContain("dirty_worktree");
    expect(open.json.data.check.settled).toEqual([]);
    there.git("add", "-A");
    there.git("commit", "-q", "-m", "Fix");
    const failed = await there.pawl("check", "--fix", "--json");
    expect([failed.code, codes(failed)]).toEqual([1, ["check_failed"]]);
  });

  test("without a check in the policy, somebody has to say what proves it", async ({ project }) => {
    const there = await begun(project, "profile: light\n");
    there.commit("fixed.txt", "fixed\n");
    const open = await there.pawl("check", "--fix", "--json");
    expect(codes(open)).toEqual(["check_missing"]);
    expect(open.json.next.command).toBe("pawl verify T0001 -- <test command>");
    expect((await project.pawl("check", "T1", "--stage", "plan", "--fix", "--json")).json.error.code).toBe(
      "fix_closes",
    );
  });
});
