import { describe, expect, test } from "vitest";
import { nextStage, type PipelineFacts, type Stage } from "../../../src/judge/runs/next-stage.ts";

const stage = (role: Stage["role"], more: Partial<Stage> = {}): Stage => ({
  ...{
    run: `T0001/R${role?.[0]}`,
    role,
    status: "succeeded",
    reason: undefined,
    attempts: 1,
    basis: undefined,
  },
  ...more,
});
const reason = (owner: "author" | "reviewer" | "human", code: string) => ({
  ...{ owner, code, record: `T0001/${code}`, repo: undefined },
});
const facts = (stages: Stage[], more: Partial<PipelineFacts> = {}): PipelineFacts => ({
  ...{ stages, reasons: [], verdict: undefined, state: "now", rounds: 2 },
  ...more,
});

const author = stage("author");
const reviewer = stage("reviewer");
const fixer = (basis: string) => stage("fixer", { basis });
const finding = reason("author", "open_finding");
const unreviewed = reason("reviewer", "review_missing");

describe("what comes next", () => {
  test.each<[string, PipelineFacts, object]>([
    ["nothing was started: the author", facts([]), { do: "start", role: "author" }],
    [
      "the author is at work: wait",
      facts([stage("author", { status: "running" })]),
      { do: "wait", run: "T0001/Ra" },
    ],
    [
      "the author left something open: it is fixed before anybody reviews",
      facts([author], { reasons: [reason("author", "dirty_worktree"), unreviewed] }),
      { do: "start", role: "fixer" },
    ],
    [
      "the author is done: the reviewer",
      facts([author], { reasons: [unreviewed] }),
      { do: "start", role: "reviewer" },
    ],
    [
      "the reviewer found something: the fixer",
      facts([author, reviewer], { reasons: [finding, unreviewed] }),
      { do: "start", role: "fixer" },
    ],
    [
      "the reviewer failed it without a finding: the fixer, too",
      facts([author, reviewer], { reasons: [unreviewed], verdict: "fail" }),
      { do: "start", role: "fixer" },
    ],
    [
      "the fixer is done: the reviewer looks again",
      facts([author, reviewer, fixer("before")], { reasons: [unreviewed] }),
      { do: "start", role: "reviewer" },
    ],
    [
      "the fixer changed nothing: no progress, even with rounds left",
      facts([author, reviewer, fixer("now")], { reasons: [finding] }),
      { do: "end", reason: "no_progress" },
    ],
    [
      "something is found again: another round",
      facts([author, reviewer, fixer("before"), reviewer], { reasons: [finding] }),
      { do: "start", role: "fixer" },
    ],
    [
      "… until all of them are used up",
      facts([author, reviewer, fixer("before"), reviewer, fixer("later"), reviewer], { reasons: [finding] }),
      { do: "end", reason: "rounds_exhausted" },
    ],
    [
      "no rounds at all: found is the end",
      facts([author, reviewer], { reasons: [finding], rounds: 0 }),
      { do: "end", reason: "rounds_exhausted" },
    ],
    [
      "a reviewer without a verdict: another one",
      facts([author, reviewer], { reasons: [unreviewed] }),
      { do: "start", role: "reviewer" },
    ],
    [
      "two reviewers without a verdict: the end",
      facts([author, reviewer, reviewer], { reasons: [unreviewed] }),
      { do: "end", reason: "no_result" },
    ],
    [
      "passed, nothing is open: the end",
      facts([author, reviewer], { verdict: "pass" }),
      { do: "end", reason: undefined },
    ],
    [
      "only a human can settle what is left: the end, too",
      facts([author, reviewer], { verdict: "pass", reasons: [reason("human", "target_dirty")] }),
      { do: "end", reason: undefined },
    ],
  ])("%s", (_, given, wanted) => {
    expect(nextStage(given)).toMatchObject(wanted);
  });
});

describe("a stage that did not end well", () => {
  test.each<[string, Partial<Stage>, object]>([
    ["was lost once: goes on", { status: "interrupted", reason: "guard_lost" }, { do: "resume" }],
    ["never came: goes on", { status: "interrupted", reason: "never_started" }, { do: "resume" }],
    [
      "was lost twice: the end",
      { status: "interrupted", reason: "guard_lost", attempts: 2 },
      { do: "end", reason: "guard_lost" },
    ],
    [
      "a person stopped it: the end",
      { status: "interrupted", reason: "stopped" },
      { do: "end", reason: "stopped" },
    ],
    [
      "a limit: the end",
      { status: "interrupted", reason: "limit_time" },
      { do: "end", reason: "limit_time" },
    ],
    [
      "the model refused: the end",
      { status: "failed", reason: "model_auth" },
      { do: "end", reason: "model_auth" },
    ],
    ["failed without a reason: the end", { status: "failed" }, { do: "end", reason: "exit" }],
  ])("%s", (_, more, wanted) => {
    for (const role of ["author", "reviewer", "fixer"] as const)
      expect(nextStage(facts([author, stage(role, more)]))).toMatchObject(wanted);
  });
});

test("what is still open is named", () => {
  const handoff = { ...finding, code: "no_handoff", record: "T0001" };
  const end = nextStage(facts([author, fixer("before")], { reasons: [finding, handoff], rounds: 1 }));
  expect(end).toMatchObject({
    words: "All 1 rounds of fixing are used up; still open: T0001/open_finding, no_handoff.",
  });
});
