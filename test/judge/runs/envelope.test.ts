import { describe, expect, test } from "vitest";
import {
  allowChild,
  type ChildWish,
  type EnvelopeFacts,
  shareCost,
} from "../../../src/judge/runs/envelope.ts";
import { Failure } from "../../../src/model/failure.ts";
import type { RunAttempt } from "../../../src/model/records/attempt.ts";
import { BY_HAND, type Run } from "../../../src/model/records/run.ts";

const attempt = (more: Partial<RunAttempt>): RunAttempt =>
  ({
    number: 1,
    agent: "claude",
    status: "running",
    begun: "2026-11-17T10:00:00.000Z",
    ...more,
  }) as RunAttempt;
const run = (more: Partial<Run>): Run => ({ ...BY_HAND, status: "running", ...more }) as Run;

const limits = { time: 3_600, idle: undefined, cost: undefined, turns: undefined, log: 50_000_000 };
const manager = run({
  id: "T0001/R1",
  role: "manager",
  limits: { ...limits, time: 7_200 },
  attempts: [attempt({})],
  envelope: { agents: ["claude", "codex"], at_once: 2, in_all: 4, cost: "10.00" },
});
const child = (id: string, more: Partial<Run> = {}): Run => run({ id, parent: manager.id, limits, ...more });
const working = (id: string, cost?: string) =>
  child(id, { attempts: [attempt({})], limits: { ...limits, cost } });
const ended = (id: string, ...costs: (string | undefined)[]) =>
  child(id, {
    limits: { ...limits, cost: "2.00" },
    attempts: costs.map((cost) =>
      attempt({
        ended: "2026-11-17T10:10:00.000Z",
        output_tokens: 10,
        ...(cost === undefined ? {} : { cost, cost_from: "reported" }),
      }),
    ),
  });

const facts: EnvelopeFacts = { manager, plan: "1. All", children: [], now: "2026-11-17T10:30:00.000Z" };
const wish: ChildWish = { task: "T0002", parent: "T0001", agent: "codex", mode: "single", limits };

const codeOf = (more: Partial<EnvelopeFacts>, wanted: Partial<ChildWish>) => {
  try {
    allowChild({ ...facts, ...more }, { ...wish, ...wanted });
    return "allowed";
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.code, (error.details as { spent?: string } | undefined)?.spent].filter(Boolean).join(" ");
  }
};

describe("a manager may start a run", () => {
  test.each<[what: string, facts: Partial<EnvelopeFacts>, wish: Partial<ChildWish>, code: string]>([
    ["within its envelope", {}, {}, "allowed"],
    ["without having been given one", { manager: { ...manager, envelope: undefined } }, {}, "no_envelope"],
    ["that starts others again", {}, { mode: "manager" }, "depth"],
    ["that conducts others", {}, { mode: "pipeline" }, "depth"],
    ["of somebody else's task", {}, { parent: "T0009" }, "not_in_tree"],
    ["of a task that is nobody's part", {}, { parent: undefined }, "not_in_tree"],
    ["without a plan", { plan: " \n" }, {}, "plan_missing"],
    ["with an agent that was not named", {}, { agent: "copilot" }, "agent_not_allowed"],
    ["beside one that is at work", { children: [working("T0002/R1", "1.00")] }, {}, "allowed"],
    [
      "when as many are at work as may be",
      { children: [working("T0002/R1", "1.00"), working("T0003/R1", "1.00")] },
      {},
      "envelope_full",
    ],
    [
      "when three starts of four are used",
      { children: [ended("T0002/R1", "1", "1"), ended("T0003/R1", "1")] },
      {},
      "allowed",
    ],
    [
      "when all starts are used, resumptions included",
      { children: [ended("T0002/R1", "1", "1", "1"), ended("T0003/R1", "1")] },
      {},
      "envelope_spent in_all",
    ],
    ["when its time is over", { now: "2026-11-17T12:00:00.000Z" }, {}, "envelope_spent time"],
    ["in its last minute", { now: "2026-11-17T11:59:01.000Z" }, {}, "envelope_spent time"],
    ["by a clock that was turned into nonsense", { now: "soon" }, {}, "envelope_spent time"],
    [
      "when it has ended itself",
      { manager: { ...manager, attempts: [attempt({ ended: "2026-11-17T10:20:00.000Z" })] } },
      {},
      "envelope_spent time",
    ],
    ["when the money is spent", { children: [ended("T0002/R1", "10.00")] }, {}, "envelope_spent cost"],
    ["when the money is promised", { children: [working("T0002/R1", "10.00")] }, {}, "envelope_spent cost"],
    [
      "when one has ended without telling, for what it was promised",
      { children: [ended("T0002/R1", "8.00", undefined)] },
      {},
      "envelope_spent cost",
    ],
  ])("%s", (_what, more, wanted, code) => {
    expect(codeOf(more, wanted)).toBe(code);
  });

  test("with what is left of time and money, and never with more than that", () => {
    const late = { ...facts, now: "2026-11-17T11:40:00.000Z", children: [ended("T0002/R1", "7.00")] };
    expect(allowChild(facts, wish)).toMatchObject({ time: 3_600, cost: "2.50" });
    expect(allowChild(late, { ...wish, limits: { ...limits, time: 60_000, cost: "9.00" } })).toMatchObject({
      ...{ time: 1_200, cost: "3.00" },
    });
    expect(allowChild(late, { ...wish, limits: { ...limits, time: 300, cost: "0.50" } })).toMatchObject({
      ...{ time: 300, cost: "0.50" },
    });
    const free = { ...manager, envelope: { agents: ["codex"], at_once: 1, in_all: 1, cost: undefined } };
    expect(allowChild({ ...facts, manager: free }, wish).cost).toBeUndefined();
  });

  test("and what a human allows in all is for it and for them together", () => {
    expect(shareCost("10.00")).toEqual({ own: "2.00", children: "8.00" });
    expect(shareCost("0.01")).toEqual({ own: "0.01", children: "0.00" });
    expect(shareCost(undefined)).toEqual({ own: undefined, children: undefined });
  });
});
