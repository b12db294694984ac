// @module-tag proof
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test as plain } from "vitest";
import { AGENT_SIGNS } from "../../src/model/actor.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";

const session = (id: string) => ({ CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: id });
const worktree = (project: Project) => join(project.path, ".worktrees", "T0001-one");

function commit(project: Project, env: Record<string, string>, text: string): void {
  writeFileSync(join(worktree(project), "work"), text);
  for (const args of [
    ["add", "-A"],
    ["commit", "-q", "-m", text],
  ])
    execFileSync("git", args, { cwd: worktree(project), env: { ...project.env, ...env }, stdio: "pipe" });
}

async function review(project: Project, env: Record<string, string>): Promise<boolean> {
  const { json } = await project.pawlIn(
    worktree(project),
    env,
    ...["review", "record", "--kind", "branch", "--verdict", "pass", "--looked-at", "work", "--json"],
  );
  return json.data.review.counts;
}

test("whoever commits to a task's branch is its author, also where a human started it (D3)", async ({
  project,
}) => {
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
  await ok(project.pawl("start", "T1"));
  project.begin(session("x"), session("y"), { CODEX_SESSION_ID: "z" });
  commit(project, session("x"), "one");
  commit(project, session("x"), "two");
  expect(await review(project, session("x")), "by the session that committed").toBe(false);
  expect(await review(project, session("y")), "by another one").toBe(true);
  expect(await review(project, {}), "by a human").toBe(true);
  commit(project, { CODEX_SESSION_ID: "z" }, "three");
  commit(project, {}, "by hand");
  const noted = readFileSync(join(project.path, ".git/worktrees/T0001-one/pawl-authors"), "utf8");
  expect(noted).toBe("CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=x\nCODEX_SESSION_ID=z\n");
  expect(await review(project, { CODEX_SESSION_ID: "z" })).toBe(false);
});

test("a commit under a session's name that nobody saw begin makes all sessions of that agent authors", async ({
  project,
}) => {
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
  await ok(project.pawl("start", "T1"));
  const codex = { CODEX_SESSION_ID: "z" };
  project.begin(session("x"), codex);
  commit(project, session("invented"), "one");
  expect(await review(project, session("x"))).toBe(false);
  expect(await review(project, codex)).toBe(true);
  // Another agent's sign beside its own hides nobody.
  commit(project, { ...session("x"), ...codex }, "two");
  expect(await review(project, codex)).toBe(false);
});

test("whoever moved the branch stays an author when the work is brought back in another worktree", async ({
  project,
}) => {
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
  await ok(project.pawl("start", "T1"));
  project.begin(session("x"), session("y"));
  commit(project, session("x"), "one");
  await ok(project.pawl("finish", "T1", "--remove", "--reason", "later"));
  await ok(project.pawl("start", "T1", "--restore", "R1"));
  expect(await review(project, session("x"))).toBe(false);
  expect(await review(project, session("y"))).toBe(true);
});

test("a session's name cannot make the guard write or run anything else", async ({ project }) => {
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
  await ok(project.pawl("start", "T1"));
  commit(project, session('x"; touch owned; echo "$(touch owned)\nCODEX_SESSION_ID=y'), "one");
  expect(readFileSync(join(project.path, ".git/worktrees/T0001-one/pawl-authors"), "utf8")).toBe(
    "CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=other\n",
  );
});

plain("the guard looks for every sign that pawl knows agents by", () => {
  const hook = readFileSync("hooks/reference-transaction.sh", "utf8");
  const listed = /for sign in ([\s\S]*?); do/.exec(hook)?.[1]?.split(/[\s\\]+/) ?? [];
  expect([...listed].sort()).toEqual([...new Set([...AGENT_SIGNS, "PAWL_AGENT"])].sort());
});
