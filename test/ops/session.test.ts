import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";

const ONE = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "one" };
const TWO = { CODEX_SESSION_ID: "two" };
const THREE = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "three" };

const worktreeOf = (project: Project, name: string) => join(project.path, ".worktrees", name);

/** Two tasks, each held by a session of its own. */
async function twoUnderWay(project: Project): Promise<void> {
  await project.pawl("task", "new", "Retry uploads", "--profile", "light");
  await project.pawl("task", "new", "Sort names", "--profile", "light");
  for (const [task, env] of [
    ["T1", ONE],
    ["T2", TWO],
  ] as const)
    expect((await project.pawlIn(project.path, env, "start", task)).code).toBe(0);
}

describe("with two tasks under way, from the top of the repository", () => {
  test("each session sees its own task, where it is, and who holds the other one", async ({ project }) => {
    await twoUnderWay(project);
    const [one, two] = [worktreeOf(project, "T0001-retry-uploads"), worktreeOf(project, "T0002-sort-names")];
    const first = await project.pawlIn(project.path, ONE, "session");
    expect(first.out).toContain(`T0001 Retry uploads`);
    expect(first.out).toContain(`worktree: ${one} (work there)`);
    expect(first.out).toContain("held by this session");
    expect(first.out).toContain("T0002 held by agent:codex:two, .worktrees/T0002-sort-names");
    const second = (await project.pawlIn(project.path, TWO, "session", "--json")).json.data.session;
    expect(second).toMatchObject({
      task: { id: "T0002" },
      worktrees: [{ path: two }],
      holder: "agent:codex:two",
      yours: true,
      here: false,
      others: [{ id: "T0001", holder: "agent:claude-code:one", yours: false }],
    });
    expect((await project.pawlIn(one, TWO, "session")).out).toMatch(
      /^T0001 [\s\S]*worktree: .*\(you stand in it\)\nheld by agent:claude-code:one/,
    );
  });

  test("a session that holds none of them sees all, and is not assigned one by guess", async ({
    project,
  }) => {
    await twoUnderWay(project);
    const { out, err, json } = await project.pawlIn(project.path, THREE, "session");
    expect(out).toContain("2 tasks are active.");
    expect(out).toContain(
      "T0001 Retry uploads (held by agent:claude-code:one, .worktrees/T0001-retry-uploads)",
    );
    expect(out).toContain("T0002 Sort names (held by agent:codex:two");
    expect(err).toContain("next: pawl session T0001");
    expect(json).toBeUndefined();
  });

  test("status says that they are under way, and never that there is nothing to do", async ({ project }) => {
    await project.pawl("install", "--profile", "hooks");
    await twoUnderWay(project);
    const { out, err } = await project.pawlIn(project.path, THREE, "status");
    expect(out).toMatch(/^task +none in this folder or session; 2 active$/m);
    expect(err).toMatch(/^next: pawl session .*2 tasks under way/m);
    expect((await project.pawlIn(project.path, ONE, "status", "--json")).json).toMatchObject({
      data: { status: { task: { id: "T0001" } } },
      next: { command: "pawl session" },
    });
  });

  test("open tasks that wait for others are something to do as well", async ({ project }) => {
    await project.pawl("install", "--profile", "hooks");
    await project.pawl("task", "new", "First");
    await project.pawl("task", "new", "Second", "--depends", "T1");
    await project.pawl("task", "update", "T1", "--status", "dropped");
    const next = (await project.pawl("status", "--json")).json.next;
    expect(next.reason).not.toContain("nothing to do");
  });
});

test("changed files come from git: committed, changed, new and deleted, without anybody's word", async ({
  project,
}) => {
  project.commit("old.ts", "old\n");
  project.commit("gone.ts", "gone\n");
  await project.pawl("task", "new", "Retry uploads", "--profile", "light");
  await project.pawl("start", "T1");
  const worktree = worktreeOf(project, "T0001-retry-uploads");
  const touched = async () => (await project.pawl("session", "--json")).json.data.session.touched;
  expect(await touched()).toEqual([]);
  const inside = (path: string, text: string) => writeFileSync(join(worktree, path), text);
  mkdirSync(join(worktree, "src"));
  inside("src/committed.ts", "x\n");
  project.git("-C", worktree, "add", "src");
  project.git("-C", worktree, "commit", "-q", "-m", "Add it");
  inside("old.ts", "changed\n");
  inside("new file.ts", "new\n");
  project.git("-C", worktree, "rm", "-q", "gone.ts");
  expect(await touched()).toEqual(["gone.ts", "new file.ts", "old.ts", "src/committed.ts"]);
  // What the base got meanwhile is not this task's doing.
  project.commit("elsewhere.ts", "x\n");
  expect(await touched()).not.toContain("elsewhere.ts");
  expect((await project.pawl("session")).out).toContain("changed files: 4\n  gone.ts\n  new file.ts");
});

test("the latest verdict of each kind that counts is shown", async ({ project }) => {
  project.begin(ONE, TWO);
  await project.pawl("task", "new", "One", "--plan", "1. Retry");
  await project.pawlIn(project.path, ONE, "verify", "T1", "--", "test", "-d", ".");
  const record = (env: Record<string, string>, kind: string, verdict: string) =>
    project.pawlIn(project.path, env, "review", "record", "T1", "--kind", kind, "--verdict", verdict);
  await record(TWO, "plan", "pass");
  await record(TWO, "branch", "pass");
  await project.pawlIn(project.path, TWO, "finding", "add", "No limit", "--severity", "low", "--task", "T1");
  await record(TWO, "branch", "fail");
  await record(ONE, "branch", "pass");
  const { out } = await project.pawl("session", "T1");
  expect(out).toContain("plan review T0001/V1: pass, by agent:codex:two");
  expect(out).toContain("branch review T0001/V3: fail, by agent:codex:two");
  expect(out).not.toContain("V4");
});

test("a session's own task is told among more tasks under way than anybody can keep in mind", {
  tags: ["proof"],
}, async ({ project }) => {
  for (let number = 1; number <= 10; number++) {
    await project.pawl("task", "new", `Task ${number}`, "--profile", "light");
    const env = number >= 9 ? ONE : TWO;
    expect((await project.pawlIn(project.path, env, "start", `T${number}`)).code).toBe(0);
  }
  const { others } = (await project.pawlIn(project.path, ONE, "session", "T9", "--json")).json.data.session;
  expect(others).toHaveLength(8);
  expect(others[0]).toMatchObject({ id: "T0010", yours: true });
});
