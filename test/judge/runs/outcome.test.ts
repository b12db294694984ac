import { describe, expect, test } from "vitest";
import { nextLaunches } from "../../../src/judge/runs/conduct.ts";
import { judgeOutcome, nextAfter, type Witnesses } from "../../../src/judge/runs/outcome.ts";
import { usageOf, usedInSession } from "../../../src/judge/runs/usage.ts";
import type { RunAttempt } from "../../../src/model/records/attempt.ts";

const good = { ok: true, reason: undefined, words: "done" };
const witnesses = (more: Partial<Witnesses>): Witnesses => ({
  ...{ stop: undefined, exit: { code: 0, lost: undefined }, verdict: good, denied: 0, endsByEvent: true },
  ...more,
});
const exit = (code: number | undefined, lost?: Witnesses["exit"]["lost"]) => ({ code, lost });

describe("no witness is believed alone", () => {
  test.each<[string, Partial<Witnesses>, string]>([
    ["all say that it went well", {}, "succeeded"],
    ["tools were denied to it", { denied: 2 }, "succeeded denied_tools"],
    [
      "Copilot was stopped: exit 0 and a good last event",
      { stop: { reason: "stopped" } },
      "interrupted stopped",
    ],
    [
      "Claude was stopped: exit 0 and an error",
      { stop: { reason: "stopped" }, verdict: { ok: false, reason: "exit", words: "" } },
      "interrupted stopped",
    ],
    [
      "a limit on time",
      { stop: { reason: "limit_time" }, exit: exit(143), verdict: undefined },
      "interrupted limit_time",
    ],
    [
      "the key is refused, so we stopped it",
      { stop: { reason: "model_auth" }, exit: exit(0) },
      "failed model_auth",
    ],
    [
      "Claude says success and error at once",
      { verdict: { ok: false, reason: "model_error", words: "400" } },
      "failed model_error",
    ],
    [
      "it reached its own limit",
      { exit: exit(1), verdict: { ok: false, reason: "limit_turns", words: "" } },
      "interrupted limit_turns",
    ],
    [
      "a signal from elsewhere, which it says and exits with 0",
      { verdict: { ok: false, reason: "exit", words: "", aborted: true } },
      "interrupted exit",
    ],
    ["exit 0 without a last event", { verdict: undefined }, "failed no_result"],
    ["exit 0 of a program that has no events", { verdict: undefined, endsByEvent: false }, "succeeded"],
    ["exit 3", { exit: exit(3), verdict: undefined }, "failed exit"],
    ["exit 3 after a good last event", { exit: exit(3) }, "failed exit"],
    ["killed from outside", { exit: exit(137), verdict: undefined }, "interrupted exit"],
    [
      "nobody learned the code, but it had said its last word",
      { exit: exit(undefined, "guard_lost") },
      "succeeded",
    ],
    [
      "nobody learned the code, and it said nothing",
      { exit: exit(undefined, "guard_lost"), verdict: undefined },
      "interrupted guard_lost",
    ],
    [
      "the machine was started anew",
      { exit: exit(undefined, "rebooted"), verdict: undefined },
      "interrupted rebooted",
    ],
    [
      "it never began",
      { exit: exit(undefined, "never_started"), verdict: undefined },
      "interrupted never_started",
    ],
    [
      "it never began, and was stopped",
      { exit: exit(undefined, "never_started"), stop: { reason: "stopped" } },
      "interrupted never_started",
    ],
  ])("%s", (_, more, expected) => {
    const { status, reason } = judgeOutcome(witnesses(more));
    expect([status, reason].filter(Boolean).join(" ")).toBe(expected);
  });

  test("what comes next names the run or its task", () => {
    const command = (status: "succeeded" | "failed" | "interrupted", reason?: "limit_time" | "model_auth") =>
      nextAfter("T0001/R2", { status, reason }).command;
    expect(command("succeeded")).toBe("pawl check T0001 --stage close");
    expect(command("failed")).toBe("pawl run log T0001/R2");
    expect(command("failed", "model_auth")).toBe("pawl run resume T0001/R2");
    // An agent without conversations begins a new one: what goes on is the work.
    expect(nextAfter("T0001/R2", { status: "interrupted", reason: "stopped" }).reason).toContain("the work");
    expect(nextAfter("T0001/R2", { status: "interrupted", reason: "limit_time" })).toEqual({
      command: "pawl run resume T0001/R2",
      reason: "continues for as long again; --time changes that",
    });
  });
});

const attempt = (more: Partial<RunAttempt>): RunAttempt => ({
  ...{ number: 1, agent: "codex", session: "s", model: undefined, version: undefined, status: "succeeded" },
  ...{ reason: undefined, exit_code: 0, begun: "", ended: "", seconds: 1, turns: 2 },
  ...{ input_tokens: 30, cached_tokens: 10, output_tokens: 15, cost: undefined, cost_from: undefined },
  ...more,
});

test("what all attempts used is added up, and says where its cost comes from", () => {
  const known = attempt({ cost: "0.5", cost_from: "reported" });
  expect(usageOf({ attempts: [known, known] })).toMatchObject({
    input: 60,
    output: 30,
    turns: 4,
    cost: 1,
    source: "reported",
  });
  expect(usageOf({ attempts: [known, attempt({ cost: "0.25", cost_from: "computed" })] }).source).toBe(
    "computed",
  );
  expect(usageOf({ attempts: [known, attempt({})] })).toMatchObject({ cost: 0.5, source: "unknown" });
  expect(usedInSession({ attempts: [known, attempt({ session: "other" })] }, "s")).toEqual({
    input: 30,
    cached: 10,
    output: 15,
  });
  expect(usedInSession({ attempts: [known] }, undefined)).toEqual({ input: 0, cached: 0, output: 0 });
});

describe("a conductor starts each task once, and never more than so many at a time", () => {
  const waiting = (task: string) => ({ task, run: undefined, refused: undefined });
  const at = (task: string, status: "running" | "succeeded" | "failed") => ({
    ...waiting(task),
    run: { id: `${task}/R1`, status },
  });
  test.each([
    ["the first two", [waiting("T1"), waiting("T2"), waiting("T3")], ["T1", "T2"], false],
    [
      "one more when one has ended",
      [at("T1", "failed"), at("T2", "running"), waiting("T3"), waiting("T4")],
      ["T3"],
      false,
    ],
    ["none while all places are taken", [at("T1", "running"), at("T2", "running"), waiting("T3")], [], false],
    [
      "what was refused is not tried again",
      [at("T1", "succeeded"), { ...waiting("T2"), refused: "x" }],
      [],
      true,
    ],
    ["the last one is awaited", [at("T1", "succeeded"), at("T2", "running")], [], false],
  ])("%s", (_, tasks, launch, done) => {
    expect(nextLaunches(tasks, 2)).toEqual({ launch, done });
  });
});
