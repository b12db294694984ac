import { expect, test } from "vitest";
import { inboxOf, type LiveTask } from "../../../src/judge/runs/inbox.ts";
import type { RunStanding } from "../../../src/judge/runs/standing.ts";

const run = (state: RunStanding["state"], more: Partial<RunStanding> = {}): RunStanding => ({
  ...{ id: "T0001/R1", task: "T0001", agent: "claude", role: "author", mode: "single", parent: undefined },
  ...{ holder: "agent:claude-code", state, reason: undefined, attempts: 1, since: "", ended: undefined },
  ...{ elapsed: 1, silent: 0, last: "", waiting: undefined, files: 0, dirty: [], evidence: [], warnings: [] },
  usage: { input: 0, cached: 0, output: 0, turns: 0, cost: undefined, source: "unknown" },
  next: { command: "pawl run resume T0001/R1", reason: "" },
  ...more,
});
const live = (more: Partial<LiveTask>): LiveTask => ({
  task: { id: "T0001", title: "Faster", status: "active", blocker: undefined },
  ...{ runs: [], reasons: [{ code: "no_handoff", owner: "author", command: "x" }], findings: [], mail: [] },
  ...more,
});
const blocked: LiveTask["task"] = { id: "T0001", title: "Faster", status: "blocked", blocker: "no key" };

test.each<[string, LiveTask, string | undefined]>([
  ["an agent is at work", live({ runs: [run("running")] }), undefined],
  ["an agent at work on a blocked task", live({ task: blocked, runs: [run("orphaned")] }), undefined],
  ["somebody works by hand", live({ runs: [run("held")] }), undefined],
  ["blocked", live({ task: blocked }), "pawl task show T0001"],
  ["the last run was cut off", live({ runs: [run("interrupted")] }), "pawl run resume T0001/R1"],
  [
    "an earlier one was cut off, the last went well",
    live({ runs: [run("interrupted"), run("succeeded")] }),
    "pawl check T0001 --stage close",
  ],
  [
    "a conductor failed, its run did not",
    live({ runs: [run("succeeded"), run("failed", { role: "conductor" })], reasons: [] }),
    "pawl approve T0001",
  ],
  ["nothing is missing", live({ reasons: [] }), "pawl approve T0001"],
  [
    "only a review is missing, whoever wrote it",
    live({
      runs: [run("held")],
      reasons: [{ code: "review_missing", owner: "reviewer", command: "read it" }],
    }),
    "read it",
  ],
  [
    "a review is missing, and the author is not done",
    live({
      reasons: [
        { code: "review_missing", owner: "reviewer", command: "read it" },
        { code: "no_handoff", owner: "author", command: "x" },
      ],
    }),
    undefined,
  ],
  [
    "only a human can settle it",
    live({ reasons: [{ code: "target_dirty", owner: "human", command: "git status" }] }),
    "git status",
  ],
])("%s", (_, task, command) => {
  expect(inboxOf([task], [], []).needs_you.map((one) => one.command)).toEqual(
    command === undefined ? [] : [command],
  );
});

test("recent tells what ended, each record once, the latest first", () => {
  const event = (record: string, name: string, phase?: "before" | "after") => ({
    ...{ time: "2026-01-01T00:00:00Z", event: name, record, about: record, actor: "human:Ada" },
    ...(phase ? { phase } : {}),
  });
  const events = [
    event("T0001@1", "task.new"),
    event("T0001/R1@1", "run", "before"),
    event("T0001/R1@2", "run", "after"),
    event("T0001/R1@3", "run", "after"),
    event("T0001/E1@1", "verify"),
  ];
  expect(inboxOf([], [], events).recent.map((one) => one.record)).toEqual(["T0001/R1@3", "T0001@1"]);
});
