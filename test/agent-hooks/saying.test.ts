import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/agent-hooks/answer.ts";
import { readCall, recogniseCaller } from "../../src/agent-hooks/call.ts";
import { type Agent, DIALECTS } from "../../src/agent-hooks/dialects.ts";
import { checkRunIn } from "../../src/agent-hooks/evidence-offer.ts";
import { needsHandoff } from "../../src/agent-hooks/handoff-reminder.ts";
import { startText } from "../../src/agent-hooks/session-start.ts";
import { parser } from "../../src/agent-hooks/shell/parser.ts";
import { readScript } from "../../src/agent-hooks/shell/read.ts";
import { tokensOf } from "../../src/model/budget.ts";

const printAnswer = (agent: Agent, answer: Answer) => DIALECTS[agent].print(answer);

describe("an answer in each agent's form", () => {
  test("Gemini, opencode and Cursor have refusals of their own", () => {
    const refusal = { kind: "refuse", reason: "no" } as const;
    expect(JSON.parse(printAnswer("gemini", refusal))).toEqual({ decision: "deny", reason: "no" });
    expect(JSON.parse(printAnswer("opencode", refusal))).toEqual({ refuse: "no" });
    expect(JSON.parse(printAnswer("cursor", refusal))).toMatchObject({
      permission: "deny",
      agent_message: "no",
    });
    const told = { kind: "tell", event: "PostToolUse", text: "hello" } as const;
    expect(JSON.parse(printAnswer("gemini", told)).hookSpecificOutput).toEqual({
      ...{ hookEventName: "AfterTool", additionalContext: "hello" },
    });
  });

  test("a refusal is the same for Claude, Codex and Copilot", () => {
    for (const agent of ["claude", "codex", "copilot"] as const)
      expect(JSON.parse(printAnswer(agent, { kind: "refuse", reason: "no" }))).toEqual({
        hookSpecificOutput: {
          ...{ hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" },
        },
      });
  });

  test("context is nested, but flat for Copilot, and Codex gets no key that it does not know", () => {
    const answer = { kind: "tell", event: "SessionStart", text: "hello" } as const;
    const nested = { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "hello" } };
    expect(JSON.parse(printAnswer("claude", answer))).toEqual(nested);
    expect(JSON.parse(printAnswer("codex", answer))).toEqual(nested);
    expect(JSON.parse(printAnswer("copilot", answer))).toEqual({ additionalContext: "hello" });
  });

  test("one more turn, and words before a compaction", () => {
    expect(JSON.parse(printAnswer("codex", { kind: "go on", reason: "why" }))).toEqual({
      ...{ decision: "block", reason: "why" },
    });
    const before = { kind: "before compaction", text: "keep it" } as const;
    expect(printAnswer("claude", before)).toBe("keep it");
    expect(JSON.parse(printAnswer("codex", before))).toEqual({ systemMessage: "keep it" });
    expect(printAnswer("copilot", before)).toBe("");
  });
});

describe("a handoff is asked for", () => {
  const work = {
    task: "T0001",
    root: "/p/.worktrees/T0001",
    status: "active",
    changedAt: 2000,
    handoffAt: undefined,
  };
  test.each<[string, Partial<typeof work> | { handoffAt: number }, boolean]>([
    ["after a change without one", {}, true],
    ["after a change that is newer", { handoffAt: 1000 }, true],
    ["not when one is newer", { handoffAt: 3000 }, false],
    ["not when nothing changed", { changedAt: undefined } as never, false],
    ["not when the task is over", { status: "merged" }, false],
    ["not before the task is begun", { status: "open" }, false],
    ["when the task is blocked", { status: "blocked" }, true],
  ])("%s", (_when, part, asked) => expect(needsHandoff({ ...work, ...part })).toBe(asked));
});

describe("evidence is offered", () => {
  const POLICY = "checks:\n  unit: ./run-unit --fast\n  all: sh ci.sh\n";
  const check = (line: string) => checkRunIn(readScript(line, "/p", parser), POLICY);
  test.each([
    ["npm test", "npm test"],
    ["npm run test:unit", "npm run test:unit"],
    ["cd api && npx vitest run test/a.test.ts 2>&1 | tail -5", "npx vitest run test/a.test.ts"],
    ["CI=1 timeout 60 pytest -q", "pytest -q"],
    ["go test ./...", "go test ./..."],
    ["cargo test --all", "cargo test --all"],
    ["./run-unit --fast", "./run-unit --fast"],
    ["npm ci && npm run lint", "npm run lint"],
  ])("for %s", (line, text) => expect(check(line)).toBe(text));

  test.each([
    "ls test",
    "cat test/a.test.ts",
    "git commit -m 'npm test passes'",
    "echo npm test",
    "pawl verify -- npm test",
    "node .pawl/pawl.cjs verify -- npm test",
    "npm install vitest",
    "mkdir test",
    "sh other.sh",
  ])("not for %s", (line) => expect(check(line)).toBeUndefined());
});

describe("the text at the start of a session", () => {
  const launcher = ".pawl/pawl.cjs";
  const session = {
    code: 0,
    out: "T0001 Retry uploads\nactive, light\n",
    err: "next: pawl context  (read)\n",
  };

  test("says what pawl is, where the task stands, and what is next", () => {
    const text = startText({ agent: "codex", launcher, guarded: true, session });
    for (const words of ["node .pawl/pawl.cjs", "$pawl", "T0001 Retry uploads", "next: pawl context"])
      expect(text).toContain(words);
    expect(text).not.toContain("Warning");
  });

  test("says when the guard is not there, or does not hold, and what to run", () => {
    expect(startText({ agent: "claude", launcher, guarded: false, session })).toContain(
      "the guard is not installed in this clone, so git refuses nothing here. Run: node .pawl/pawl.cjs install",
    );
    const err = "note: This repository is not guarded properly. To look into it: pawl doctor\n";
    expect(startText({ agent: "claude", launcher, guarded: true, session: { ...session, err } })).toContain(
      "Warning: This repository is not guarded properly. To look into it: pawl doctor",
    );
  });

  test("costs at most 400 tokens, and keeps the next step", () => {
    const long = Array.from({ length: 80 }, (_, at) => `line ${at} ${"ü".repeat(60)}`).join("\n");
    const warnings = `note: ${"x".repeat(900)}\n`.repeat(5);
    for (const code of [0, 2]) {
      const err = `${warnings}next: pawl check  (why)\n`;
      const text = startText({
        agent: "claude",
        launcher,
        guarded: false,
        session: { code, out: long, err },
      });
      expect(tokensOf(text)).toBeLessThanOrEqual(400);
      if (code === 0) expect(text).toContain("next: pawl check");
    }
  });

  test("says so when the session cannot be loaded", () => {
    const failed = { code: 2, out: "", err: "pawl: tasks/T0001/task.md is broken\n" };
    expect(startText({ agent: "claude", launcher, guarded: true, session: failed })).toContain(
      "task.md is broken",
    );
    expect(
      startText({ agent: "claude", launcher, guarded: true, session: { code: null, out: "", err: "" } }),
    ).toContain("could not be loaded");
  });
});

test("Gemini is refused in its own form, and its own names for moments and tools are known", () => {
  expect(JSON.parse(printAnswer("gemini", { kind: "refuse", reason: "no" }))).toEqual({
    decision: "deny",
    reason: "no",
  });
  const told = (tool_name: string, tool_input: object) =>
    readCall(
      "gemini",
      JSON.stringify({ hook_event_name: "BeforeTool", cwd: "/x", tool_name, tool_input }),
      "/",
    );
  expect(told("run_shell_command", { command: "git commit -m x" })).toMatchObject({
    event: "PreToolUse",
    command: "git commit -m x",
    writes: [],
  });
  for (const tool of ["write_file", "replace", "mcp__files__write_file", "files.edit_file"])
    expect(told(tool, { file_path: "/x/.git/config" })).toMatchObject({ writes: ["/x/.git/config"] });
  expect(recogniseCaller("gemini", {})).toBe("gemini");
});
