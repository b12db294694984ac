// @module-tag proof
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS_TIMEOUT_MS, type ProgramName, type Programs, realPrograms } from "./programs.ts";
import { type AgentResult, dialects, runAgent } from "./run-agent.ts";
import type { Step } from "./scripted-model.ts";

/** One task goes from hand to hand: begun in Claude Code, continued in Codex, finished in Copilot. */
let programs: Programs;
let project: InstalledProject;
let worktree: string;

beforeAll(async () => {
  programs = await realPrograms();
  project = makeProject("switching");
  // What a person wants done; a small fix, so that no review is asked for.
  project.pawl(
    "task",
    "new",
    "Retry uploads",
    "--profile",
    "light",
    "--objective",
    "Uploads survive an outage",
  );
  worktree = project.worktree("T0001-retry-uploads");
}, PROGRAMS_TIMEOUT_MS);
afterAll(() => project?.remove());

async function work(name: ProgramName, folder: string, script: readonly Step[]): Promise<AgentResult> {
  const result = await runAgent(programs, name, {
    ...{ folder, root: project.path, home: project.newHome(), prompt: "Go on with the task.", script },
    ...dialects[name].unattended,
  });
  expect(result.code, result.err).toBe(0);
  expect(result.requests).toHaveLength(script.length);
  return result;
}

/** A commit in the task's worktree, from wherever the agent stands. */
const commit = (file: string, text: string) =>
  `(cd '${worktree}' && echo ${text} > ${file} && git add -A && git commit -qm 'Change ${file}')`;

const ready = () => JSON.parse(project.pawl("session", "T0001", "--json")).data.session;

test("each agent first reads what the previous one left", async () => {
  const claude = dialects.claude;
  const first = await work("claude", project.path, [
    { call: claude.mcp("start", { task: "T0001" }) },
    { call: claude.shell(commit("upload.txt", "retry")) },
    {
      call: claude.mcp("decide", {
        task: "T0001",
        what: "Retry three times",
        why: "more would hide outages",
      }),
    },
    {
      call: claude.mcp("finding_add", {
        ...{
          task: "T0001",
          text: "The backoff has no limit",
          severity: "high",
          kind: "branch",
          file: "upload.txt",
        },
      }),
    },
    {
      call: claude.mcp("handoff", {
        ...{
          task: "T0001",
          what: "Retries work, the backoff grows for ever",
          next: "limit the backoff to a minute",
        },
        ...{ changed: ["upload.txt"], validation: ["npm test: passed"] },
      }),
    },
    { say: "Handed over." },
  ]);
  expect(first.read(0)).not.toContain("The backoff has no limit");

  const codex = dialects.codex;
  const second = await work("codex", worktree, [
    { call: codex.shell(commit("upload.txt", "limited")) },
    { call: codex.mcp("finding_resolve", { finding: "T0001/F1", note: "limited to a minute" }) },
    { call: codex.mcp("decide", { task: "T0001", what: "A minute at most", why: "users wait no longer" }) },
    {
      call: codex.mcp("handoff", {
        task: "T0001",
        what: "The backoff is limited",
        next: "check that it is ready",
      }),
    },
    { say: "Handed over." },
  ]);
  for (const words of [
    ...["T0001 Retry uploads", "Retry three times", "The backoff has no limit"],
    ...["Retries work, the backoff grows for ever", "limit the backoff to a minute", "agent:claude-code"],
  ])
    expect(second.read(0)).toContain(words);

  const copilot = dialects.copilot;
  const third = await work("copilot", project.path, [
    { call: copilot.mcp("verify", { task: "T0001", command: ["node", "--test"] }) },
    { call: copilot.mcp("snapshot", { task: "T0001" }) },
    { call: copilot.mcp("check", { task: "T0001", stage: "close" }) },
    { say: "It is ready for a human." },
  ]);
  for (const words of [
    ...["A minute at most", "Retry three times", "The backoff is limited", "check that it is ready"],
    ...["no open findings", "agent:codex"],
  ])
    expect(third.read(0)).toContain(words);
  expect(third.news(3)).toContain('"ready":true');
  expect(ready()).toMatchObject({
    ...{ task: { status: "active" }, findings: [], handoff: { next: "check that it is ready" } },
    decisions: [{ what: "Retry three times" }, { what: "A minute at most" }],
  });

  const human = await project.onTerminal(["approve", "T0001"], "T0001");
  expect(human.code, human.out).toBe(0);
  expect(project.git("show", "main:upload.txt")).toBe("limited");
}, 300_000);
