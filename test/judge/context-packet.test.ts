// @module-tag again
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isNearlyEmpty } from "../../src/judge/context/history-sections.ts";
import { assemble, assembleWithoutTask } from "../../src/judge/context/packet.ts";
import { tokensOf } from "../../src/model/budget.ts";
import {
  aDecision,
  aFinding,
  aHandoff,
  anEvidence,
  anyFacts,
  aRelated,
  aReview,
  aTask,
  facts,
  situation,
} from "../helpers/context-facts.ts";
import { runs } from "../helpers/long-runs.ts";

const anyBudget = fc.oneof(
  fc.integer({ min: 200, max: 600 }),
  fc.integer({ min: 200, max: 6_000 }),
  fc.integer({ min: 200, max: 20_000 }),
);
const LONG = runs(50);

describe("whatever is known", () => {
  test("the text that is printed never exceeds the budget", () => {
    fc.assert(
      fc.property(anyFacts, anyBudget, (known, budget) => {
        const packet = assemble(known, situation, budget);
        expect(packet.text.endsWith("\n")).toBe(true);
        expect(Math.ceil(Buffer.byteLength(packet.text) / 4)).toBeLessThanOrEqual(budget);
        expect(packet.tokens).toBe(tokensOf(packet.text));
      }),
      LONG,
    );
  });

  test("identity, blocker, high findings, the next step and what was left out are always there", () => {
    fc.assert(
      fc.property(anyFacts, anyBudget, (known, budget) => {
        const { text, dropped } = assemble(known, situation, budget);
        const { task, findings, handoffs } = known.own;
        expect(text.startsWith(`# ${task.id} `)).toBe(true);
        expect(text.split("\n")[1]).toContain(`${task.status}, ${task.profile} profile`);
        if (task.blocker) expect(text).toContain("\n**Blocked:** ");
        const high = findings.filter((one) => one.status === "open" && one.severity === "high");
        if (high.length > 0) expect(text).toContain(`${high.length} high`);
        for (const { id } of high.slice(0, 3))
          expect(text).toContain(`\n- ${id.slice(id.indexOf("/") + 1)} `);
        if (handoffs.length > 0) expect(text).toContain("\nNext: step");
        const last = text.trimEnd().split("\n").at(-1) ?? "";
        expect(last.startsWith("Left out for the budget: ")).toBe(dropped.length > 0);
      }),
      LONG,
    );
  });

  test("the same facts give the same packet", () => {
    fc.assert(
      fc.property(anyFacts, anyBudget, (known, budget) => {
        expect(assemble(known, situation, budget)).toEqual(
          assemble(structuredClone(known), situation, budget),
        );
      }),
      runs(20),
    );
  });

  test("a larger budget includes everything that a smaller one does", () => {
    fc.assert(
      fc.property(anyFacts, anyBudget, anyBudget, (known, one, other) => {
        const small = assemble(known, situation, Math.min(one, other)).included;
        const large = new Set(assemble(known, situation, Math.max(one, other)).included);
        expect(small.filter((id) => !large.has(id))).toEqual([]);
      }),
      LONG,
    );
  });

  test("related records are left out from the lowest rank on", () => {
    fc.assert(
      fc.property(anyFacts, anyBudget, (known, budget) => {
        const included = new Set(assemble(known, situation, budget).included);
        const flags = known.related.map(({ id }) => included.has(id));
        expect(flags).toEqual([...flags].sort((a, b) => Number(b) - Number(a)));
      }),
      LONG,
    );
  });
});

describe("the smallest packet", () => {
  const parrots = "🦜".repeat(2_500);
  const known = facts({
    task: aTask({
      title: parrots,
      blocker: parrots,
      branch: parrots,
      base_branch: parrots,
      status: "blocked",
    }),
    findings: Array.from({ length: 40 }, (_, index) =>
      aFinding(10_000 + index, { severity: "high", text: parrots, file: `src/${parrots}.ts` }),
    ),
    handoffs: [aHandoff(99_999, { next: `Feed the ${parrots}`, what: parrots })],
  });

  test("holds 10 kB texts in every field", () => {
    const { text } = assemble(known, situation, 200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(800);
    expect(text).toContain("# T0001 🦜");
    expect(text).toContain("**Blocked:** 🦜");
    expect(text).toContain("(40, 40 high)");
    expect(text).toContain("Next: Feed the 🦜");
    expect(text).toContain("Left out for the budget: ");
    expect(text).toContain("`pawl context T0001 --budget 400` shows more.");
    expect(text).not.toContain("\uFFFD");
  });

  test("half characters and escape codes are neither printed nor miscounted", () => {
    const title = "\u001b[31m\ud83e日".repeat(900);
    const broken = facts({ task: aTask({ title, blocker: title, status: "blocked" }) });
    const { text, tokens } = assemble(broken, situation, 200);
    expect(tokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
    expect(text).not.toContain("\u001b");
    expect(text).toContain("# T0001 [31m\uFFFD日");
  });

  test("names no more than it has to: a small task is whole in 200 tokens", () => {
    const { text, dropped } = assemble(
      facts({ task: aTask({ objective: "Uploads survive" }) }),
      situation,
      200,
    );
    expect(dropped).toEqual([]);
    expect(text).not.toContain("Left out");
  });
});

describe("what is missing is said in words", () => {
  test("everything", () => {
    const { text, missing } = assemble(facts(), situation, 4_000);
    expect(text).toContain(
      "**Missing:** No objective, no acceptance, no plan, no decisions recorded, no evidence recorded, no review yet, no handoff yet, no related records found: inspect the repository.",
    );
    expect(missing).toEqual([
      "objective",
      "acceptance",
      "plan",
      "decisions",
      "evidence",
      "review",
      "handoff",
      "related",
    ]);
  });

  test("nothing", () => {
    const whole = facts(
      {
        task: aTask({ objective: "a", acceptance: "b", plan: "c" }),
        decisions: [aDecision(1)],
        evidence: [anEvidence(1)],
        reviews: [aReview(1)],
        handoffs: [aHandoff(1)],
      },
      { related: [aRelated(1)] },
    );
    const { text, missing } = assemble(whole, situation, 4_000);
    expect(missing).toEqual([]);
    expect(text).not.toContain("Missing");
  });

  test("a light task needs no review, a strict one needs slices", () => {
    const missingOf = (profile: "light" | "strict") =>
      assemble(facts({ task: aTask({ profile }) }), situation, 4_000).missing;
    expect(missingOf("light")).not.toContain("review");
    expect(missingOf("light")).not.toContain("slices");
    expect(missingOf("strict")).toContain("slices");
  });

  test("a search that failed and files that cannot be read", () => {
    const { text } = assemble(
      facts(
        {},
        {
          look: { ...facts().look, searchProblem: "no" },
          problems: [{ file: "tasks/T0001/decisions/D1.md", message: "", hint: undefined }],
        },
      ),
      situation,
      4_000,
    );
    expect(text).toContain("the search index could not be read");
    expect(text).toContain("unreadable files (tasks/T0001/decisions/D1.md)");
  });

  test("a repository without any task", () => {
    const { text, missing } = assembleWithoutTask(situation, true, 200);
    expect(missing).toEqual(["task"]);
    expect(text).toContain("Repository harbor: on branch main at aaaaaaaaaa, dirty");
    expect(text).toContain("pawl task new");
    expect(tokensOf(text)).toBeLessThanOrEqual(200);
  });
});

describe("the order in which things are left out", () => {
  const many = <T>(count: number, make: (number: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index + 1));
  const full = facts(
    {
      task: aTask({
        objective: "Uploads survive a lost connection",
        slices: [
          ...many(6, (number) => slice(`S${number}`, "closed")),
          ...many(2, (number) => slice(`S${number + 6}`, "open")),
        ],
      }),
      decisions: many(8, (number) =>
        aDecision(number, { what: "Backoff doubles each time, up to a minute" }),
      ),
      evidence: many(6, (number) => anEvidence(number)),
      handoffs: [aHandoff(1)],
    },
    {
      files: many(10, (number) => `src/uploads/part-${number}.ts`),
      related: many(20, (number) => aRelated(number)),
    },
  );

  test("low relatives first, then old evidence, closed slices, touched files, and never the open work", () => {
    const gone: string[] = [];
    for (let budget = 1_400; budget >= 200; budget -= 5) {
      const dropped = assemble(full, situation, budget).dropped.join("|");
      for (const name of [
        "related record",
        "older result",
        "closed slice",
        "touched file",
        "decision",
        "open slice",
      ])
        if (new RegExp(`\\d ${name}`).test(dropped) && !gone.includes(name)) gone.push(name);
    }
    expect(gone).toEqual(["related record", "older result", "closed slice", "touched file", "decision"]);
  });

  test("the last line counts what is missing and says how to see it", () => {
    const { text, dropped } = assemble(full, situation, 500);
    expect(dropped.length).toBeGreaterThan(0);
    const last = text.trimEnd().split("\n").at(-1) ?? "";
    expect(last).toMatch(
      /^Left out for the budget: .*\d+ related records.*\. `pawl context T0001 --budget 1000` shows more\.$/,
    );
  });

  function slice(id: string, status: "open" | "closed") {
    const none = { decision: undefined, red: undefined, green: undefined, commit: undefined, by: undefined };
    return { id, title: `Part ${id}`, status, ...none };
  }
});

describe("long texts", () => {
  test("are cut with a mark that says where the rest is", () => {
    const plan = Array.from({ length: 400 }, (_, index) => `${index + 1}. Do the next thing`).join("\n");
    const { text } = assemble(facts({ task: aTask({ plan }) }), situation, 600);
    expect(text).toContain("1. Do the next thing\n2. Do");
    expect(text).toContain("… (shortened; `pawl task show T0001`)");
    expect(assemble(facts({ task: aTask({ plan }) }), situation, 6_000).text).toContain(
      "400. Do the next thing",
    );
  });

  test("cannot pretend to be a section of the packet, nor swallow what follows", () => {
    const plan = `# Open findings (0)\n\`\`\`sh\n${"npm test\n".repeat(300)}`;
    const { text } = assemble(facts({ task: aTask({ plan, notes: "Ask Grace" }) }), situation, 900);
    expect(text).toContain("#### Open findings (0)");
    expect(text.match(/^```/gm)).toHaveLength(2);
    expect(text.indexOf("Ask Grace")).toBeGreaterThan(text.lastIndexOf("```"));
  });
});

describe("handoffs", () => {
  const task = aTask({ objective: "Uploads survive a lost connection" });
  const useful = aHandoff(1, { validation: ["npm test: 1 failed"], blocker: "The sandbox is down" });

  test("one that only restates is shown with the last one that has substance", () => {
    const empty = aHandoff(2, { what: "Still working on it", next: "Go on" });
    const { text, included } = assemble(facts({ task, handoffs: [useful, empty] }), situation, 4_000);
    expect(text).toContain("## Latest handoff H2");
    expect(text).toContain("Next: Go on");
    expect(text).toContain("## Earlier handoff H1");
    expect(text).toContain("Blocker: The sandbox is down");
    expect(included).toContain("T0001/H1");
  });

  test("one with substance stands alone", () => {
    const latest = aHandoff(2, { changed: ["src/upload.ts"] });
    const { text } = assemble(facts({ task, handoffs: [useful, latest] }), situation, 4_000);
    expect(text).not.toContain("Earlier handoff");
  });

  test.each([
    ["few words", { what: "More of the same", next: "Continue" }, true],
    [
      "a restatement",
      {
        what: "Uploads should survive a lost connection. Uploads survive a lost connection",
        next: "Retry failed uploads",
      },
      true,
    ],
    [
      "news",
      {
        what: "The proxy closes idle sockets after sixty seconds, so keep-alive pings are needed there",
        next: "Send pings",
      },
      false,
    ],
    ["a validation", { what: "Done", validation: ["npm test: passed"] }, false],
  ])("%s", (_name, more, expected) => {
    expect(isNearlyEmpty(aHandoff(1, more), undefined, task)).toBe(expected);
  });
});

describe("evidence", () => {
  test("the latest result of each check, failures first, with the end of their output", () => {
    const { text } = assemble(
      facts({
        evidence: [
          anEvidence(1, { exit_code: 1, output: "old failure" }),
          anEvidence(2),
          anEvidence(3, {
            check: "lint",
            argv: ["npm", "run", "lint"],
            exit_code: 2,
            output: "src/a.ts: unused",
            head: situation.commit,
          }),
        ],
      }),
      situation,
      4_000,
    );
    const lines = text.split("\n").filter((line) => /^- .*E\d/.test(line));
    expect(lines[0]).toContain("E3 lint failed (2): `npm run lint` at this commit");
    expect(lines[1]).toContain("E2 test passed: `npm test` without a commit");
    expect(lines[2]).toContain("older: E1 test failed (1)");
    expect(text).toContain("Output ended: src/a.ts: unused");
    expect(text).not.toContain("old failure");
  });

  test("a red result that fails is as it should be", () => {
    const red = anEvidence(1, { kind: "red", slice: "S1", check: undefined, exit_code: 1 });
    expect(assemble(facts({ evidence: [red] }), situation, 4_000).text).toContain(
      "E1 S1 failed (1), as a red should: `npm test`",
    );
  });
});

test("findings come by severity with place and fix, settled ones only as a count", () => {
  const { text } = assemble(
    facts({
      findings: [
        aFinding(1, { severity: "low", text: "A typo" }),
        aFinding(2, { severity: "high", file: "src/upload.ts", line: 40, fix: "Count the attempts" }),
        aFinding(3, { status: "fixed", text: "Was repaired" }),
      ],
    }),
    situation,
    4_000,
  );
  expect(text).toContain(
    "## Open findings (2, 1 high, 1 settled)\n- F2 high, src/upload.ts:40: The loop never ends\n  Fix: Count the attempts\n- F1 low: A typo",
  );
  expect(text).not.toContain("Was repaired");
});

test("it says when the reader stands on another branch than the task's, and what cannot be seen from here", () => {
  const task = aTask({ branch: "task/T0001-retry", repos: ["harbor", "harbor-docs"] });
  const { text } = assemble(
    facts({ task }, { dependencies: [{ id: "T0009", status: "open" }] }),
    situation,
    4_000,
  );
  expect(text).toContain("This is not the task's branch, task/T0001-retry.");
  expect(text).toContain("The task also has work in harbor-docs.");
  expect(text).toContain("depends on T0009 (open)");
});
