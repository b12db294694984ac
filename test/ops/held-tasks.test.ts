import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test as plain } from "vitest";
import { judgeScript, judgeWrites } from "../../src/agent-hooks/judge.ts";
import { openFacts } from "../../src/agent-hooks/place.ts";
import { printRefusal } from "../../src/agent-hooks/refusal.ts";
import { readPlain } from "../../src/agent-hooks/shell/plain.ts";
import { foreignHolder } from "../../src/judge/own-task.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";

const session = (id: string) => ({ CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: id });
const worktree = (project: Project, task: string) => join(project.path, ".worktrees", task);
const CLAIM = /pawl start T0001 --claim/;

plain.each<[string, string, string, [string, string][], boolean]>([
  [
    "another's, with one of its own",
    "T0001",
    "agent:claude-code:b",
    [
      ["T0001", "agent:claude-code:a"],
      ["T0002", "agent:claude-code:b"],
    ],
    true,
  ],
  [
    "another agent's",
    "T0001",
    "agent:codex:b",
    [
      ["T0001", "agent:claude-code:a"],
      ["T0002", "agent:codex:b"],
    ],
    true,
  ],
  [
    "another's, with none of its own",
    "T0001",
    "agent:claude-code:b",
    [["T0001", "agent:claude-code:a"]],
    false,
  ],
  [
    "nobody's",
    "T0003",
    "agent:claude-code:b",
    [
      ["T0001", "agent:claude-code:a"],
      ["T0002", "agent:claude-code:b"],
    ],
    false,
  ],
  [
    "one of two of its own",
    "T0001",
    "agent:claude-code:b",
    [
      ["T0001", "agent:claude-code:b"],
      ["T0002", "agent:claude-code:b"],
    ],
    false,
  ],
  [
    "its own in one of two repositories",
    "T0001",
    "agent:claude-code:b",
    [
      ["T0001", "agent:claude-code:a"],
      ["T0001", "agent:claude-code:b"],
    ],
    false,
  ],
])("a session keeps out of %s", (_name, task, actor, held, kept) => {
  const all = held.map(([one, holder]) => ({ task: one, holder }));
  expect(foreignHolder(task, actor, all) !== undefined).toBe(kept);
});

/** What the guard says of a commit there, or that it came about. */
function commit(project: Project, task: string, env: Record<string, string>): string {
  const cwd = worktree(project, task);
  writeFileSync(join(cwd, "work"), `${Math.random()}`);
  const all = { cwd, env: { ...project.env, ...env }, encoding: "utf8" } as const;
  spawnSync("git", ["add", "-A"], all);
  const { status, stderr } = spawnSync("git", ["commit", "-q", "-m", "Work"], all);
  return status === 0 ? "committed" : stderr;
}

/** What the agent's hook says to a session that stands at the project's top. */
function hook(project: Project, id: string, file: string, line: string): string {
  const facts = openFacts({}, Date.now(), id);
  const call = { writes: [file], folder: project.path } as Parameters<typeof judgeWrites>[0];
  const script = readPlain(line, project.path);
  if (!script) throw new Error(`not a plain line: ${line}`);
  return [...judgeWrites(call, facts), ...judgeScript(line, project.path, script, facts)]
    .map(printRefusal)
    .join("\n");
}

test("a session at the project's top keeps to the tasks that it started or claimed (D5)", {
  tags: ["proof"],
}, async ({ project }) => {
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  for (const title of ["One", "Two", "Three"]) await ok(project.pawl("task", "new", title));
  const as = (id: string, ...argv: string[]) => project.pawlIn(project.path, session(id), ...argv);
  await ok(as("a", "start", "T1"));
  await ok(as("b", "start", "T2"));
  const one = worktree(project, "T0001-one");

  for (const argv of [
    ["slice", "open", "Mine", "--task", "T1", "--json"],
    ["decide", "This", "--why", "so", "--task", "T1", "--json"],
    ["verify", "T1", "--json", "--", "test", "-d", "."],
    ["handoff", "T1", "--what", "x", "--next", "y", "--json"],
    ["refresh", "T1", "--json"],
  ]) {
    const { json } = await as("b", ...argv);
    expect(json.error, argv.join(" ")).toMatchObject({
      code: "task_of_another",
      hint: expect.stringMatching(CLAIM),
    });
  }
  await ok(as("b", "finding", "add", "Odd", "--severity", "low", "--task", "T1"));
  expect(commit(project, "T0001-one", session("b"))).toMatch(CLAIM);
  // The path has a space; the line that names it is read by the shell's own rules in another test.
  const said = hook(project, "b", join(one, "x.ts"), "git -C .worktrees/T0001-one commit -m x");
  expect(said.match(/Another session holds T0001/g)).toHaveLength(2);
  expect(said).toMatch(CLAIM);

  // Whoever holds it, a human, and a session that holds nothing, are not kept out.
  for (const env of [session("a"), {}, session("c"), { CLAUDECODE: "1" }])
    expect(commit(project, "T0001-one", env), JSON.stringify(env)).toBe("committed");
  for (const id of ["a", "c", ""])
    expect(hook(project, id, join(one, "x.ts"), "git -C .worktrees/T0001-one commit -m x")).toBe("");
  await ok(as("c", "decide", "This", "--why", "so", "--task", "T1"));
  await ok(project.pawl("decide", "That", "--why", "so", "--task", "T1"));

  // Two tasks of one session are both its own, wherever it stands.
  await ok(as("a", "start", "T3"));
  expect(commit(project, "T0001-one", session("a"))).toBe("committed");
  expect(commit(project, "T0003-three", session("a"))).toBe("committed");
  const facts = openFacts({}, Date.now(), "a");
  const stands = { writes: [join(one, "x.ts")], folder: worktree(project, "T0003-three") };
  expect(judgeWrites(stands as Parameters<typeof judgeWrites>[0], facts)).toEqual([]);

  // A human takes it over, and keeps nobody out.
  await ok(project.pawl("start", "T1", "--claim"));
  expect(existsSync(join(project.path, ".git/worktrees/T0001-one/pawl-holder"))).toBe(false);
  expect(commit(project, "T0001-one", session("b"))).toBe("committed");
});
