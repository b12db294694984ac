// @module-tag proof
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS_TIMEOUT_MS, type Programs, realPrograms } from "./programs.ts";
import { type AgentResult, dialects, runAgent } from "./run-agent.ts";
import type { Step } from "./scripted-model.ts";

/**
 * Codex as people run it: inside the sandbox that lets it write to the workspace, with nobody there to be asked. Git's
 * folder is read-only in it, also for a linked worktree whose files are writable.
 */
describe("Codex in its workspace-write sandbox", () => {
  const { shell, mcp, skill, unattended } = dialects.codex;
  const { prompt } = skill("incremental-implementation");
  let programs: Programs;
  let project: InstalledProject;
  let worktree: string;
  let run: AgentResult;

  const decide = { call: mcp("decide", { task: "T0001", what: "Retry three times", why: "enough" }) };
  const commitInWorktree = (file: string) => ({
    call: shell(
      `cd '.worktrees/T0001-retry-uploads' && echo retry > ${file} && git add -A && git commit -m 'Add ${file}'`,
    ),
  });
  const commit = commitInWorktree("sandboxed.txt");
  const ask = {
    call: {
      name: "exec_command",
      input: {
        ...{ cmd: "git -C .worktrees/T0001-retry-uploads commit -am x", justification: "commit the slice" },
        sandbox_permissions: "require_escalated",
      },
    },
  };
  const goAround = { call: shell("git commit --allow-empty --no-verify -m x") };
  const handOff = {
    call: mcp("handoff", { task: "T0001", what: "Written, not committed", next: "commit it" }),
  };
  const script: Step[] = [decide, commit, ask, goAround, handOff, { say: "Please allow the commit." }];
  const toldAfter = (step: Step) => run.news(script.indexOf(step) + 1);

  beforeAll(async () => {
    programs = await realPrograms();
    project = makeProject("codex sandbox");
    project.pawl("task", "new", "Retry uploads", "--profile", "light");
    project.pawl("start", "T0001");
    worktree = project.worktree("T0001-retry-uploads");
    run = await runAgent(programs, "codex", {
      ...{ folder: project.path, home: project.newHome(), prompt, script },
      args: ["--sandbox", "workspace-write"],
    });
  }, PROGRAMS_TIMEOUT_MS);
  afterAll(() => project?.remove());

  test("MCP tools write the state, because the server runs outside the sandbox", () => {
    expect(run.code, run.err).toBe(0);
    expect(toldAfter(decide)).toContain("T0001/D1");
    expect(project.records("T0001", "decisions")).toEqual(["D1.md"]);
    expect(project.records("T0001", "handoffs")).toEqual(["H1.md"]);
  });

  test("the agent can edit the worktree's files but not git's, so it cannot commit", () => {
    expect(existsSync(join(worktree, "sandboxed.txt"))).toBe(true);
    expect(toldAfter(commit)).toMatch(
      /index\.lock': (?:Read-only file system|Operation not permitted|Permission denied)/,
    );
    expect(project.git("rev-list", "--count", "main..task/T0001-retry-uploads")).toBe("0");
  });

  test("the skill says which permission to request, and Codex requests it", () => {
    expect(run.read(0)).toContain("ask the user to allow `git commit`");
    // Nobody is there to answer; a person at the keyboard would be asked here.
    expect(toldAfter(ask)).toContain(
      "you cannot ask for escalated permissions if the approval policy is Never",
    );
  });

  test("the hooks also refuse inside the sandbox", () => {
    expect(toldAfter(goAround)).toContain("Refused by pawl. Hooks stay on.");
  });

  test("once the user allows it, the same commit succeeds", async () => {
    const allowed = commitInWorktree("allowed.txt");
    const free = await runAgent(programs, "codex", {
      ...{
        folder: project.path,
        home: project.newHome(),
        prompt: "Commit it.",
        script: [allowed, handOff, { say: "Done." }],
      },
      ...unattended,
    });
    expect(free.news(1)).toContain("Add allowed.txt");
    expect(project.git("log", "-1", "--format=%s", "task/T0001-retry-uploads")).toBe("Add allowed.txt");
  });
});
