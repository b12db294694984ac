import { describe, expect, test } from "vitest";
import type { HookCall } from "../../src/agent-hooks/call.ts";
import { judgeScript, judgeWrites } from "../../src/agent-hooks/judge.ts";
import { parser } from "../../src/agent-hooks/shell/parser.ts";
import { readScript } from "../../src/agent-hooks/shell/read.ts";
import { FEATURE, FOREIGN, fakeFacts, MAIN, OTHER_TASK, TASK } from "./fake-facts.ts";

const call = (path: string, folder: string): HookCall => ({
  ...{ agent: "claude", event: "PreToolUse", session: "s", folder, command: undefined },
  ...{ writes: [path], stoppedBefore: false },
});

const ALLOWED: [why: string, path: string, folder: string][] = [
  ["its own worktree", `${TASK}/src/a.ts`, TASK],
  ["its own worktree, by a relative path", "src/a.ts", TASK],
  ["a task's worktree, from the top", `${TASK}/src/a.ts`, MAIN],
  ["outside of every repository", "/tmp/notes.md", TASK],
  ["the agent's own home", "/home/ada/.claude/plans/x.md", MAIN],
  ["a repository that pawl does not guard", `${FOREIGN}/a.ts`, TASK],
  ["a guarded repository on a branch of its own", `${FEATURE}/a.ts`, FEATURE],
  ["what git does not guard in its folder", `${MAIN}/.git/info/exclude`, MAIN],
  ["git's files where pawl is not", `${FOREIGN}/.git/hooks/pre-commit`, FOREIGN],
  ["names that only look alike", `${TASK}/.github/hooks/x.json`, TASK],
  ["names that only look alike", `${TASK}/.pawl/config.yaml`, TASK],
];

const REFUSED: [why: string, path: string, folder: string, rule: RegExp, unlessScratch: boolean][] = [
  ["the protected checkout", `${MAIN}/src/a.ts`, MAIN, /Do not change files on a protected branch/, true],
  ["a new file there", `${MAIN}/new/b.ts`, MAIN, /protected branch/, true],
  ["the protected checkout, from a task", `${MAIN}/src/a.ts`, TASK, /its own worktree.*T0001/, true],
  ["the protected checkout, upwards", "../../src/a.ts", TASK, /its own worktree/, true],
  ["another task's worktree", `${OTHER_TASK}/src/a.ts`, TASK, /belongs to one task.*T0002/, false],
  ["a hook", `${MAIN}/.git/hooks/pre-commit`, MAIN, /Do not edit git's hooks/, false],
  ["a ref", `${MAIN}/.git/refs/heads/main`, TASK, /Do not edit git's hooks/, false],
  ["the guard", `${MAIN}/.git/pawl/guard`, TASK, /Do not edit git's hooks/, false],
  ["a grant", `${MAIN}/.git/pawl/grants/update/refs/heads/main`, MAIN, /Do not edit git's hooks/, false],
  ["the link of a worktree", `${TASK}/.git`, TASK, /Do not edit git's hooks/, false],
  ["a record", `${MAIN}/.pawl/state/tasks/T0001/evidence/E1.md`, MAIN, /Only pawl writes records/, false],
  ["an approval", `${MAIN}/.pawl/state/tasks/T0001/approvals/A1.md`, TASK, /Only pawl writes records/, false],
];

describe("a file tool may write", () => {
  test.each(ALLOWED)("%s: %s", (_why, path, folder) => {
    expect(judgeWrites(call(path, folder), fakeFacts)).toEqual([]);
  });
});

describe("a file tool is kept from", () => {
  test.each(REFUSED)("%s: %s", (_why, path, folder, rule, unlessScratch) => {
    const [refusal] = judgeWrites(call(path, folder), fakeFacts);
    expect(`${refusal?.rule} ${refusal?.fact}`).toMatch(rule);
    expect(refusal?.way).toMatch(/`pawl |Write the same file below/);
    expect(refusal?.unlessScratch !== undefined).toBe(unlessScratch);
  });
});

test("a patch that Codex gives to its shell is judged by the files in it", () => {
  const line = (path: string) =>
    `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${path}\n+x\n*** End Patch\nEOF`;
  const judge = (path: string, folder: string) =>
    judgeScript(line(path), folder, readScript(line(path), folder, parser), fakeFacts);
  expect(judge("src/a.ts", TASK)).toEqual([]);
  expect(judge("src/a.ts", MAIN)).toHaveLength(1);
  expect(judge(`${OTHER_TASK}/a.ts`, TASK)).toHaveLength(1);
});
