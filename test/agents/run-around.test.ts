import { expect, test } from "vitest";
import { findRunAround } from "../../src/agents/run-around.ts";

/** 10 is a manager's agent, 20 the agent that it started, 21 that one's shell. */
const PARENTS: Record<number, number> = { 10: 1, 11: 10, 20: 1, 21: 20, 22: 21, 30: 31, 31: 30 };
const guarded = [
  { run: "T0001/R1", guard: 10, mark: "manager" },
  { run: "T0002/R1", guard: 20, mark: "worker" },
];
const MARKS: Record<number, string> = { 10: "manager", 20: "worker" };
const find = (from: number, marks = MARKS) =>
  findRunAround(
    guarded,
    from,
    (pid) => PARENTS[pid] ?? 0,
    (pid, mark) => marks[pid] === mark,
  );

test.each<[what: string, from: number, run: string | undefined]>([
  ["its own server", 11, "T0001/R1"],
  ["a shell of the one that it started", 22, "T0002/R1"],
  ["the agent itself", 20, "T0002/R1"],
  ["a process that left its family", 40, undefined],
  ["a loop", 30, undefined],
])("%s belongs to the nearest run above it, if any", (_what, from, run) => {
  expect(find(from)).toBe(run);
});

test("a reused pid leads to no run", () => {
  expect(find(11, { 10: "another" })).toBeUndefined();
});

test("this process belongs to no run", () => {
  expect(findRunAround(guarded)).toBeUndefined();
});
