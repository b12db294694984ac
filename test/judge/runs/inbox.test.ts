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
const BY_ADA = { actor: "human:Ada", updated: "2026-01-01T09:00:00Z" };
const live = (more: Partial<LiveTask>): LiveTask => ({
  task: { id: "T0001", title: "Faster", status: "active", blocker: undefined, ...BY_ADA },
  touched: "2026-01-01T12:00:00Z",
  ...{ runs: [], reasons: [{ code: "no_handoff", owner: "author", command: "x" }], findings: [], mail: [] },
  unchanged: false,
  ...more,
});
const blocked: LiveTask["task"] = { ...live({}).task, status: "blocked", blocker: "no key" };

test.each<[string, LiveTask, string | undefined]>([
  ["an agent is at work", live({ runs: [run("running")] }), undefined],
  ["an agent at work on a blocked task", live({ task: blocked, runs: [run("orphaned")] }), undefined],
  ["somebody works by hand", live({ runs: [run("held")] }), undefined],
  ["blocked", live({ task: blocked }), "pawl task show T0001"],
  ["the last run was cut off", live({ runs: [run("interrupted")] }), "pawl run resume T0001/R1"],
  [
    "an earlier one was cut off, the last went well",
    live({
      runs: [run("interrupted"), run("succeeded")],
      reasons: [{ code: "check_failed", owner: "author", command: "x" }],
    }),
    "pawl check T0001 --stage close",
  ],
  [
    "the last run went well, and approve writes the handoff",
    live({ runs: [run("succeeded")] }),
    "pawl approve T0001",
  ],
  [
    "the last run went well and changed nothing, so there is nothing to approve",
    live({ runs: [run("succeeded")], unchanged: true }),
    "pawl run log T0001/R1",
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

const message = {
  ...{ id: "T0001/M1", actor: "agent:codex:s1", created: "2026-01-01T10:00:00Z", to: "human" },
  ...{ text: "Which?", status: "open", run: undefined, from_run: undefined },
} as LiveTask["mail"][number];

test.each<[string, LiveTask, string]>([
  ["mail names its sender", live({ mail: [message] }), "codex, 10:00"],
  [
    "a run that failed names its agent, and when it ended",
    live({ runs: [run("failed", { ended: "2026-01-01T11:00:00Z" })] }),
    "claude, 11:00",
  ],
  [
    "a blocked task names who blocked it",
    live({ task: blocked, runs: [run("succeeded")] }),
    "copilot, 08:00",
  ],
  [
    "what is ready names who worked on it last",
    live({ runs: [run("succeeded")], reasons: [] }),
    "claude, 12:00",
  ],
  [
    "a run by hand names whoever holds it, and no conductor",
    live({
      runs: [
        run("held", { agent: undefined, holder: "human:Bob" }),
        run("succeeded", { role: "conductor", agent: "pawl" }),
      ],
      reasons: [],
    }),
    "Bob, 12:00",
  ],
  ["what nobody has worked on names its author", live({ reasons: [] }), "Ada, 12:00"],
])("who and since when: %s", (_, task, expected) => {
  const changed = (record: string, time: string, actor: string) => ({
    ...{ time, event: "task.update", record, about: "", actor },
  });
  const events = [
    changed("T0001@4", "2026-01-01T07:00:00Z", "human:Ada"),
    changed("T0001@5", "2026-01-01T08:00:00Z", "agent:copilot:s2"),
    changed("T0001/R1@9", "2026-01-01T08:30:00Z", "agent:claude-code"),
    changed("T00010@1", "2026-01-01T08:40:00Z", "human:Eve"),
  ];
  const [need] = inboxOf([task], [], events).needs_you;
  expect(`${need?.who}, ${need?.since.slice(11, 16)}`).toBe(expected);
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
