import { describe, expect, test } from "vitest";
import { claude } from "../../../src/agents/programs/claude.ts";
import { codex } from "../../../src/agents/programs/codex.ts";
import { copilot } from "../../../src/agents/programs/copilot.ts";
import { expectTellable, keepTellable } from "../../../src/flows/run/run-limits.ts";
import type { Failure } from "../../../src/model/failure.ts";

/** What docs/running-agents.md says in its table of limits. */
describe("a limit that an agent cannot tell is refused, with those that it can", () => {
  const refused = (limits: { turns?: number; cost?: string }, agent: typeof claude): string => {
    try {
      expectTellable({ turns: undefined, cost: undefined, ...limits }, agent);
      return "taken";
    } catch (error) {
      const { code, message, hint } = error as Failure;
      return `${code}: ${message} ${hint}`;
    }
  };
  test.each([
    [claude, { cost: "2" }, "taken"],
    [claude, { turns: 5 }, "taken"],
    [copilot, { turns: 5 }, "taken"],
    [
      copilot,
      { cost: "2" },
      "limit_unknown: copilot does not report its cost while it runs. Use --turns or --time: --turns 40, --time 30m",
    ],
    [
      codex,
      { cost: "2" },
      "limit_unknown: codex does not report its cost while it runs. Use --time: --time 30m",
    ],
    [
      codex,
      { turns: 5 },
      "limit_unknown: codex does not report its turns while it runs. Use --time: --time 30m",
    ],
    [codex, {}, "taken"],
  ])("$name", (agent, limits, answer) => {
    expect(refused(limits, agent)).toBe(answer);
  });
});

test("of earlier limits, another agent keeps those that it can tell; what goes is said", () => {
  const before = { time: 60, idle: 10, turns: 5, cost: "2", log: 1 };
  const said: string[] = [];
  const kept = (agent: typeof claude) => keepTellable(before, agent, (line) => said.push(line));
  expect(kept(claude)).toEqual(before);
  expect(kept(copilot)).toEqual({ ...before, cost: undefined });
  expect(kept(codex)).toEqual({ ...before, turns: undefined, cost: undefined });
  expect(said).toEqual([
    "copilot does not report its cost, so the limit on that no longer applies.",
    "codex does not report its turns or cost, so the limit on that no longer applies.",
  ]);
});
