// @module-tag proof
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS_TIMEOUT_MS, type Programs, realPrograms } from "./programs.ts";
import { type AgentResult, dialects, runAgent } from "./run-agent.ts";
import type { Step } from "./scripted-model.ts";

/**
 * Claude Code looks into git's configuration before it says anything about the repository or makes a worktree of its
 * own there, and does neither where a setting could run what it cannot see. What we set must not be such a one.
 */
describe("Claude Code in a guarded repository", () => {
  const { shell, unattended } = dialects.claude;
  let programs: Programs;
  let project: InstalledProject;
  beforeAll(async () => {
    programs = await realPrograms();
    project = makeProject("own worktrees", "--agents", "claude");
  }, PROGRAMS_TIMEOUT_MS);
  afterAll(() => project?.remove());

  const run = (script: Step[], ...args: string[]): Promise<AgentResult> =>
    runAgent(programs, "claude", {
      ...{ folder: project.path, home: project.newHome(), prompt: "Begin.", script },
      ...{ args: [...unattended.args, ...args], env: { ...unattended.env } },
    });
  const WORK =
    "git rev-parse --show-toplevel && git commit -q --allow-empty -m Mine && git log -1 --format=made:%s";

  /** Where the program worked, as its own shell told the model. */
  function expectGuardedWorktree(told: string): void {
    expect(told).toContain("made:Mine");
    const [place = ""] = /\/[^\n"\\]*\.claude\/worktrees\/[^\n"\\]+/.exec(told) ?? [];
    expect(place, told).not.toBe("");
    const moved = spawnSync("git", ["update-ref", "refs/heads/main", "HEAD"], {
      cwd: place,
      encoding: "utf8",
    });
    expect([moved.status, moved.stderr]).toEqual([
      128,
      expect.stringContaining("pawl: refused: main is protected"),
    ]);
  }

  test("sees the repository's state, and the guard holds in the worktrees it makes", async () => {
    const enter = { call: { name: "EnterWorktree", input: { name: "mine" } } };
    const done = await run([enter, { call: shell(WORK) }, { say: "Bye." }]);
    expect([done.code, done.err]).toEqual([0, expect.anything()]);
    expect(done.read(0)).toMatch(/Current branch: main/);
    expect(done.read(0)).not.toContain("Status: (unavailable)");
    expect(done.news(1)).not.toMatch(/conditional include|cannot be determined|error/i);
    expectGuardedWorktree(done.news(2));
  }, 120_000);

  test("can start in a new worktree, also where husky gives each worktree its own hooks path", async () => {
    mkdirSync(join(project.path, ".husky/_"), { recursive: true });
    project.git("config", "core.hooksPath", ".husky/_");
    project.pawl("install", "--profile", "hooks", "--yes");
    expect(project.git("config", "extensions.worktreeConfig")).toBe("true");
    const done = await run([{ call: shell(WORK) }, { say: "Bye." }], "--worktree", "begun");
    expect(done.code, done.err).toBe(0);
    expectGuardedWorktree(done.news(1));
  }, 120_000);
});
