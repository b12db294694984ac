import { expect, test } from "vitest";
import { judgeManage, type ManageFacts } from "../../../src/judge/gates/manage.ts";
import type { RunAttempt, Settlement } from "../../../src/model/records/attempt.ts";
import { BY_HAND, type Run } from "../../../src/model/records/run.ts";

const run = (more: Partial<Run>): Run => ({ ...BY_HAND, created: "2026-11-17T10:01:00Z", ...more }) as Run;
const attempt = (number: number, ended?: string) => ({ number, ended }) as RunAttempt;
const said = (outcome: Settlement["outcome"], number = 1): Settlement => ({
  ...{ attempt: number, outcome, by: "agent:claude-code", at: "2026-11-17T10:30:00Z", why: "seen" },
});
const over = [attempt(1, "2026-11-17T10:20:00Z")];

const manager = run({ id: "T0001/R1", role: "manager", children: ["T0002/R1"], basis: "a".repeat(64) });
const accepted = run({ id: "T0002/R1", attempts: over, settled: [said("accept")] });
const facts: ManageFacts = {
  task: { id: "T0001", plan: "All of it", plan_digest: "a".repeat(64) },
  manager,
  children: [accepted],
  unread: [],
  decisions: [],
  handoffs: [{ run: "T0001/R1", automatic: false, created: "2026-11-17T10:40:00Z" }],
};
const child = (more: Partial<Run>) => ({ children: [{ ...accepted, ...more }] });

test.each<[what: string, more: Partial<ManageFacts>, codes: string[]]>([
  ["everything is accounted for", {}, []],
  ["nobody managed it", { manager: undefined }, ["no_manager"]],
  ["nothing was started, and that is said", { manager: { ...manager, children: [] }, children: [] }, []],
  ["there is no plan", { task: { ...facts.task, plan: "" } }, ["plan_missing"]],
  ["the plan is another one", { task: { ...facts.task, plan_digest: "b" } }, ["plan_changed"]],
  [
    "the plan is another one, and a decision says why",
    { task: { ...facts.task, plan_digest: "b" }, decisions: [{ created: "2026-11-17T10:10:00Z" }] },
    [],
  ],
  [
    "the decision is from before anything was started",
    { task: { ...facts.task, plan_digest: "b" }, decisions: [{ created: "2026-11-17T10:00:00Z" }] },
    ["plan_changed"],
  ],
  ["one is at work", child({ attempts: [attempt(1)], settled: [] }), ["child_running"]],
  ["one is at work again", child({ attempts: [...over, attempt(2)] }), ["child_running"]],
  ["nothing was said of one", child({ settled: [] }), ["child_not_settled"]],
  [
    "something was said of an attempt before the last",
    child({ attempts: [...over, attempt(2, "2026-11-17T10:25:00Z")] }),
    ["child_not_settled"],
  ],
  ["one was to be retried, and was not", child({ settled: [said("retry")] }), ["child_not_settled"]],
  [
    "one was retried by another run of its task",
    {
      children: [
        { ...accepted, settled: [said("retry")] },
        { ...accepted, id: "T0002/R2", created: "2026-11-17T10:05:00Z" },
      ],
    },
    [],
  ],
  [
    "one was to be retried, and another task's run came after it",
    {
      children: [
        { ...accepted, settled: [said("retry")] },
        { ...accepted, id: "T0003/R1", created: "2026-11-17T10:05:00Z" },
      ],
    },
    ["child_not_settled"],
  ],
  ["one was abandoned", child({ settled: [said("abandon")] }), []],
  ["a report is unread", { unread: [{ id: "T0001/M1", run: "T0002/R1" }] }, ["child_outcome_unread"]],
  ["nothing was handed over", { handoffs: [] }, ["no_handoff"]],
  [
    "only pawl handed over",
    { handoffs: [{ run: "T0001/R1", automatic: true, created: "2026-11-17T10:40:00Z" }] },
    ["no_handoff"],
  ],
  [
    "somebody else handed over",
    { handoffs: [{ run: "T0001/R2", automatic: false, created: "2026-11-17T10:40:00Z" }] },
    ["no_handoff"],
  ],
  [
    "it was handed over before the last one was settled",
    { handoffs: [{ run: "T0001/R1", automatic: false, created: "2026-11-17T10:29:00Z" }] },
    ["no_handoff"],
  ],
])("%s", (_what, more, codes) => {
  const reasons = judgeManage({ ...facts, ...more });
  expect(reasons.map((one) => one.code)).toEqual(codes);
  for (const { command } of reasons) expect(command).toMatch(/^pawl /);
});
