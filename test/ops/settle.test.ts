import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { ok, typing } from "../helpers/ready-task.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

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
  const banana = await project.pawl("start", "banana");
  expect([banana.code, banana.err]).toEqual([
    3,
    expect.stringMatching(/neither a task id nor a title.*\n.*two words/),
  ]);
  const dry = await ok(project.pawl("start", "Another small thing", "--dry-run"));
  expect(dry.out + dry.err).toContain("Another small thing");
  expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(1);
});

test("after a start, a human at a terminal is sent to work there, and an agent to read", async ({
  project,
}) => {
  const start = async (typed: string | undefined, env = {}, ...argv: string[]) => {
    const human = { root: project.path, env: { ...project.env, ...env }, repos: [project] };
    return (await ok(typing(human, { typed, env }, "start", ...argv))).json.next;
  };
  const worktree = join(project.path, ".worktrees/T0001-fix-the-typo");
  expect(await start("", {}, "Fix the typo")).toEqual({
    command: `cd '${worktree}'`,
    reason: "work and commit there; then: pawl approve T0001 --finish",
  });
  for (const [typed, env] of [
    [undefined, {}],
    ["", AGENT],
  ] as const)
    expect((await start(typed, env, "Another small thing")).command).toBe("pawl session");
  await ok(project.pawl("task", "new", "Done here"));
  project.git("switch", "-q", "-c", "mine");
  expect(await start("", {}, "T4", "--here")).toMatchObject({ command: "git commit" });
});

test("approved without --push, the command that publishes it is named; done, nothing is left to do", async ({
  project,
}) => {
  const there = await begun(project, "profile: light\nchecks: none\n");
  project.git("clone", "-q", "--bare", ".", "../origin.git");
  project.git("remote", "add", "origin", "../origin.git");
  there.commit("fixed.txt", "fixed\n");
  const human = { root: project.path, env: project.env, repos: [project] };
  const approved = await typing(human, { typed: "T0001" }, "approve", "T1", "--finish");
  expect([approved.code, approved.json.warnings.join()]).toEqual([
    0,
    "main is merged in this clone alone. To publish it: git push origin main",
  ]);
  for (const argv of [["approve"], ["finish"], ["check"], ["start"]]) {
    const { code, json } = await typing(human, { typed: "" }, ...argv, "T1");
    const said = JSON.stringify(json);
    expect([argv, code, said]).toEqual([argv, 1, expect.stringMatching(/T0001 is done|done is final/)]);
    expect(said).not.toMatch(/pawl (?:start|finish) T0001/);
  }
});

test("whom git cannot name is told before anything is run, with the two commands that settle it", async ({
  project,
}) => {
  const there = await begun(project, "profile: light\nchecks:\n  test: test -f fixed.txt\n");
  there.commit("fixed.txt", "fixed\n");
  const human = { root: project.path, env: project.env, repos: [project] };
  const nameless = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  project.git("config", "user.useConfigOnly", "true");
  const refused = await typing(human, { typed: "T0001", env: nameless }, "approve", "T1", "--finish");
  expect([refused.code, refused.json.error]).toEqual([
    1,
    expect.objectContaining({
      code: "no_identity",
      hint: 'git config --global user.name "Your Name"\ngit config --global user.email you@example.com',
    }),
  ]);
  expect(refused.err).not.toContain("Running");
  expect(existsSync(join(stateOf(project), "tasks/T0001/evidence"))).toBe(false);
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

  test("without a check in the policy, somebody has to say what proves it", { tags: ["proof"] }, async ({
    project,
  }) => {
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
