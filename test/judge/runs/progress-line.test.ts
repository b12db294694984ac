import { expect, test } from "vitest";
import { NOTHING_YET } from "../../../src/agents/program.ts";
import { progressLine } from "../../../src/judge/runs/show.ts";
import type { AttemptView } from "../../../src/ports/agents.ts";

const view: AttemptView = {
  ...{ run: "T0001/R1", number: 1, state: "running", agent: "claude", begun: "" },
  ...{ stop: undefined, exit: undefined, elapsed: 75, silent: 0 },
  progress: {
    ...NOTHING_YET,
    last: "Bash npm test -- --reporter=verbose test/very/deep/folder/with/a/long/name.test.ts && echo done",
    tokens: { input: 12_300, cached: 0, output: 450 },
    files: ["a.ts", "b.ts"],
  },
};

test("the line that says how a run stands fits its terminal, and what is cut is the last act", () => {
  expect(progressLine(view, 40)).toBe("75s · Ba… · 12.3k in, 450 out · 2 files");
  for (const columns of [40, 60, 80, 200]) {
    const line = progressLine(view, columns);
    expect(line.length).toBeLessThan(columns);
    expect(line).toContain("in, 450 out · 2 files");
  }
  expect(progressLine(view, 20).length).toBeLessThan(20);
});
