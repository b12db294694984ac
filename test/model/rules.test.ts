import { describe, expect, test } from "vitest";
import {
  decideActor,
  isSameMind,
  mindsFrom,
  parseActor,
  printActor,
  recogniseAgent,
} from "../../src/model/actor.ts";
import { byteLength, tokensOf } from "../../src/model/budget.ts";
import { parseConfig } from "../../src/model/config.ts";
import { findCycle } from "../../src/model/dependencies.ts";
import { nextNumber, parsePartRef, parseTaskId } from "../../src/model/ids.ts";
import { checkFindingStep, checkTransition, mayJudge } from "../../src/model/lifecycle.ts";
import { TASK_STATUSES } from "../../src/model/records/task.ts";

describe("ids", () => {
  test.each([
    ["T0007", "T0007"],
    ["t7", "T0007"],
    ["7", "T0007"],
    ["T12345", "T12345"],
    [" T0001 ", "T0001"],
  ])("%j is %s", (typed, id) => expect(parseTaskId(typed)).toBe(id));

  test.each(["", "T", "T0", "T-1", "TT1", "1x", "../T0001", "T0001/F1", "F1"])("%j is no task", (typed) => {
    expect(() => parseTaskId(typed)).toThrow(expect.objectContaining({ code: "bad_task_id", exitCode: 3 }));
  });

  test("parts", () => {
    expect(parsePartRef("f3", "F", "finding")).toEqual({ task: undefined, part: "F3" });
    expect(parsePartRef("T7/F03", "F", "finding")).toEqual({ task: "T0007", part: "F3" });
    for (const wrong of ["", "D3", "T1/T2/F3", "F0", "F", "T7/", "F3/../../x"])
      expect(() => parsePartRef(wrong, "F", "finding"), wrong).toThrow(
        expect.objectContaining({ exitCode: 3 }),
      );
  });

  test("the next number is fresh whatever the order, and other names do not count", () => {
    expect(nextNumber([], "D")).toBe(1);
    expect(nextNumber(["D2.md", "D10.md", "D3.md", "F99.md", "D77.md.bak", ".tmp"], "D")).toBe(11);
    expect(nextNumber(["T0009", "T0010", "notes"], "T")).toBe(11);
  });
});

describe("who is acting", () => {
  test.each([
    ["Claude Code", { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" }, "agent:claude-code:s1"],
    ["Codex", { CODEX_SESSION_ID: "c1", CODEX_CI: "1" }, "agent:codex:c1"],
    ["Copilot", { COPILOT_AGENT_SESSION_ID: "p1" }, "agent:copilot:p1"],
    ["Gemini", { GEMINI_CLI: "1" }, "agent:gemini"],
    ["opencode", { OPENCODE: "1" }, "agent:opencode"],
  ])("%s is recognised, whatever is claimed", (_name, env, actor) => {
    expect(printActor(recogniseAgent(env) ?? { kind: "human", name: "x", session: undefined })).toBe(actor);
    const decided = decideActor({
      env: { ...env, PAWL_ACTOR: "human:Ada" },
      agent: recogniseAgent(env),
      claimed: "human:Ada",
      gitUser: "Ada",
    });
    expect(printActor(decided.actor)).toBe(actor);
    expect(decided.warning).toContain("human:Ada");
  });

  test.each([
    ["--actor first", { env: { PAWL_ACTOR: "agent:b" }, claimed: "agent:a", gitUser: "Ada" }, "agent:a"],
    [
      "then PAWL_ACTOR",
      { env: { PAWL_ACTOR: "human:Bob" }, claimed: undefined, gitUser: "Ada" },
      "human:Bob",
    ],
    ["then git's user", { env: {}, claimed: undefined, gitUser: "Ada" }, "human:Ada"],
    ["a bare name is an agent", { env: {}, claimed: "reviewer", gitUser: "Ada" }, "agent:reviewer"],
    ["nobody known", { env: {}, claimed: undefined, gitUser: undefined }, "human:unknown"],
  ])("%s", (_name, choice, actor) =>
    expect(printActor(decideActor({ agent: undefined, ...choice }).actor)).toBe(actor),
  );

  test.each<[string, string[], string[], string[]]>([
    ["its own signs", ["claude-code:s"], [], ["claude-code:s"]],
    ["the same above", ["claude-code:s"], ["claude-code:s", "claude-code"], ["claude-code:s"]],
    [
      "a changed session is its parent's",
      ["claude-code:z"],
      ["claude-code:s"],
      ["claude-code:z", "claude-code:s"],
    ],
    ["a dropped session as well", ["claude-code"], ["claude-code:s"], ["claude-code:s"]],
    [
      "an agent that another one started",
      ["codex:c"],
      ["codex:c", "claude-code:s"],
      ["codex:c", "claude-code:s"],
    ],
    ["another agent's clothes", ["gemini"], ["claude-code"], ["gemini", "claude-code"]],
    ["nobody", [], [], []],
  ])("may be %s", (_name, own, above, minds) => {
    const actors = (names: string[]) => names.map((name) => parseActor(`agent:${name}`));
    expect(mindsFrom(actors(own), actors(above)).map(printActor)).toEqual(
      minds.map((name) => `agent:${name}`),
    );
  });

  test.each(["", "human:", "human:Ada:session", "a\nb"])("%j names nobody", (text) => {
    expect(() => parseActor(text)).toThrow(expect.objectContaining({ code: "bad_actor" }));
  });

  test.each([
    ["agent:codex:1", "agent:codex:1", true],
    ["agent:codex:1", "agent:codex:2", false],
    ["agent:codex", "agent:codex:2", true],
    ["agent:codex:1", "agent:claude-code:1", false],
    ["human:Ada", "agent:Ada", false],
  ])("%s and %s are the same mind: %s", (left, right, same) => expect(isSameMind(left, right)).toBe(same));

  test("an author does not judge their own work; a human and a fresh session may", () => {
    const authors = ["agent:codex:1", "human:Ada"];
    expect(mayJudge("agent:codex:1", authors)).toBe(false);
    expect(mayJudge("agent:codex:2", authors)).toBe(true);
    expect(mayJudge("agent:claude-code:1", authors)).toBe(true);
    expect(mayJudge("human:Ada", authors)).toBe(true);
  });
});

describe("states", () => {
  const allowed = [
    "open>active open>blocked open>dropped active>blocked active>review active>dropped",
    "blocked>active blocked>open blocked>review blocked>dropped review>active review>blocked review>dropped",
    "merged>done dropped>open",
  ]
    .join(" ")
    .split(" ");

  test("a task moves by hand along these ways and no others", () => {
    const found: string[] = [];
    for (const from of TASK_STATUSES)
      for (const to of TASK_STATUSES) {
        if (from === to) continue;
        try {
          checkTransition("T0001", from, to);
          found.push(`${from}>${to}`);
        } catch (error) {
          expect(error).toMatchObject({
            code: "bad_transition",
            exitCode: 1,
            hint: expect.stringMatching(/./),
          });
        }
      }
    expect(found.sort()).toEqual(allowed.sort());
  });

  test.each([
    ["open", "fixed", true],
    ["fixed", "fixed", false],
    ["fixed", "open", true],
    ["integrated", "open", true],
    ["open", "open", false],
    ["fixed", "wontfix", false],
    ["deferred", "fixed", true],
    ["wontfix", "deferred", false],
  ] as const)("a finding from %s to %s: %s", (status, to, fine) => {
    const step = () => checkFindingStep({ id: "T0001/F1", status }, to);
    if (fine) step();
    else expect(step).toThrow(expect.objectContaining({ code: "bad_transition" }));
  });
});

test("a circle of dependencies is found wherever it closes", () => {
  const tasks = [
    { id: "T0001", depends_on: ["T0002"] },
    { id: "T0002", depends_on: ["T0003"] },
    { id: "T0003", depends_on: [] },
  ];
  expect(findCycle("T0003", ["T0001"], tasks)).toEqual(["T0003", "T0001", "T0002", "T0003"]);
  expect(findCycle("T0001", ["T0001"], tasks)).toEqual(["T0001", "T0001"]);
  expect(findCycle("T0004", ["T0001", "T0003"], tasks)).toBeUndefined();
});

test.each(["", "a", "ä", "🪛", "a🪛ä", "\ud800x", "\ud800€"])("the bytes of %j", (text) => {
  expect(byteLength(text)).toBe(Buffer.byteLength(text));
  expect(tokensOf(text)).toBe(Math.ceil(Buffer.byteLength(text) / 4));
});

test("the config is as strict as the records", () => {
  const config = parseConfig(
    ".pawl/config.yaml",
    new Map(Object.entries({ checks: { test: "npm test", lint: ["npx", "lint"] } })),
  );
  expect(config.checks).toEqual([
    { name: "test", argv: ["sh", "-c", "npm test"] },
    { name: "lint", argv: ["npx", "lint"] },
  ]);
  expect(() => parseConfig("c", new Map([["cheks", ""]]))).toThrow(
    expect.objectContaining({ code: "broken_config", details: expect.objectContaining({ key: "cheks" }) }),
  );
  expect(() => parseConfig("c", new Map([["profile", "relaxed"]]))).toThrow(/light, standard, strict/);
});
