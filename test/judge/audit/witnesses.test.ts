import { expect, test } from "vitest";
import { doubts, type WriteEvent } from "../../../src/judge/audit/witnesses.ts";

const PATH = "approvals/A0001.md";
const TEXT = "0123456789abcdef";
const told = (rev: number, actor: string, day: string): WriteEvent => ({
  ...{ path: PATH, text: TEXT, record: `A0001@${rev}`, actor, event: "approve" },
  time: `2026-11-${day}T00:00:00.000Z`,
});
const [AGENT, HUMAN] = ["agent:claude-code", "human:Ada"];
const found = (...events: WriteEvent[]) => doubts(new Map([[PATH, TEXT]]), events).map((one) => one.why);

test("which event created a record is told by its time, not by which clone's log is read first", () => {
  expect(found(told(2, AGENT, "02"), told(1, AGENT, "01")), "changed by a second clone").toEqual([]);
  expect(found(told(1, AGENT, "02"), told(1, HUMAN, "01")), "created again by an agent").toEqual(["renewed"]);
  const united = { ...told(1, AGENT, "02"), event: "sync" };
  expect(found(united, told(1, HUMAN, "01")), "created by two clones, and united by an agent").toEqual([]);
});
