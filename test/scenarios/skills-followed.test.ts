// @module-tag proof
// @module-tag again

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { IS_LONG } from "../helpers/long-runs.ts";
import { commandsIn, shellWords } from "../installer/render/commands.ts";
import { renderAll } from "../installer/render/rendered.ts";
import { Follower, type Outcome, SURFACES } from "./following.ts";
import { ManagedFollower } from "./managing.ts";

/*
 * Every skill, to its end, by somebody who does exactly what it says, in a fresh install: on the command line, and over
 * MCP alone. What each step promises to print is there, and the task gets through every gate of the strict profile.
 */

let built: BuiltProgram;
beforeAll(() => {
  built = buildProgram();
});
afterAll(() => built.remove());

/** It ended as wanted, and told what the step says. */
async function expectStep(step: Promise<Outcome>, told: RegExp = /(?:)/): Promise<Outcome> {
  const outcome = await step;
  expect(outcome.ok, outcome.text).toBe(true);
  expect(outcome.text).toMatch(told);
  return outcome;
}

describe.sequential.each(SURFACES)("a strict task, following the skills to the letter: %s", (surface) => {
  let by: Follower;
  beforeAll(() => {
    by = new Follower(surface, built.pawl, "profile: strict\nchecks:\n  test: sh check\n");
  });
  afterAll(() => by.close());

  const reviewer = { who: "reviewer" } as const;

  test("pawl and scope", async () => {
    await expectStep(by.follow("pawl", 1), /No task/);
    await expectStep(by.follow("pawl", 2, { begins: "pawl task list" }));
    await expectStep(by.follow("scope", 1));
    await expectStep(by.follow("scope", 3, { begins: "pawl session" }));
    await expectStep(by.follow("scope", 3, { begins: "pawl task new" }), /T0001/);
    await expectStep(by.follow("scope", 6), /D1/);
    await expectStep(by.follow("scope", 7), /rev \d/);
    await expectStep(by.follow("scope", "Gate"), /not doing/);
    await expectStep(by.follow("scope", "Stop", { begins: "pawl task new" }), /T0002/);
    await expectStep(by.follow("scope", "Use"), /T0003/);
    await expectStep(by.follow("pawl", 2, { begins: "pawl task new" }), /T0004/);
  });

  test("plan-analyze", async () => {
    const plan = { with: { "<the whole plan>": "1. Try three times in src/upload.sh.\n2. Test it." } };
    await expectStep(by.follow("scope", "Stop", { begins: "pawl task update", ...plan }), /rev \d/);
    await expectStep(by.follow("plan-analyze", "Use", { begins: "pawl task show" }), /Try three times/);
    await expectStep(by.follow("plan-analyze", "Use", { begins: "pawl task update", ...plan }), /rev \d/);
    await expectStep(by.follow("plan-analyze", 1), /Plan\n/);
    await expectStep(by.follow("plan-analyze", 3));
    await expectStep(by.follow("plan-analyze", 4), /F1/);
    await expectStep(by.follow("plan-analyze", "Gate"), /F1 .*medium/);
    const better = { with: { "<the whole plan>": "1. Try three times, at once, in src/upload.sh." } };
    await expectStep(by.follow("plan-analyze", 5, { begins: "pawl task update", ...better }), /rev \d/);
    await expectStep(by.follow("plan-analyze", 5, { begins: "pawl finding resolve" }));
    expect((await by.follow("plan-analyze", "Gate")).text).not.toContain("F1");
  });

  test("planning-review: not by the author, and only a pass opens the gate", async () => {
    expect((await by.follow("planning-review", 1)).text).toMatch(/You wrote this work/);
    expect((await by.follow("planning-review", "Gate", reviewer)).ok).toBe(false);
    const start = await expectStep(by.follow("planning-review", 1, reviewer), /Earlier findings/);
    expect(start.text).not.toMatch(/You wrote/);
    const rewrite = (plan: string) =>
      by.follow("plan-analyze", 5, { begins: "pawl task update", with: { "<the whole plan>": plan } });
    await expectStep(by.follow("planning-review", 2, { ...reviewer, begins: "pawl finding reopen" }));
    await expectStep(rewrite("1. Try three times, without a pause, in src/upload.sh."));
    await expectStep(by.follow("planning-review", 2, { ...reviewer, begins: "pawl finding resolve" }));
    await expectStep(by.follow("planning-review", 5, reviewer), /F2/);
    expect((await by.follow("planning-review", 6, reviewer)).ok).toBe(false);
    await expectStep(by.follow("planning-review", 6, { ...reviewer, with: { pass: "fail" } }), /V1/);
    await expectStep(rewrite("1. Try three times, without a pause, in src/upload.sh. 2. Test the third."));
    const answered = { ...reviewer, begins: "pawl finding resolve", with: { F1: "F2" } };
    await expectStep(by.follow("planning-review", 2, answered));
    await expectStep(by.follow("planning-review", 6, reviewer), /V2/);
    await expectStep(by.follow("planning-review", "Gate", reviewer));
  });

  test("branch-lifecycle, incremental-implementation and tdd, up to the review", async () => {
    await expectStep(by.follow("branch-lifecycle", 1), /T0001/);
    await expectStep(by.follow("branch-lifecycle", 2));
    const started = await expectStep(
      by.follow("branch-lifecycle", 3, { begins: "pawl start <task>`" }),
      /cd '/,
    );
    by.worktree = /cd '(.+)'/.exec(started.text)?.[1] ?? "";
    await expectStep(by.follow("incremental-implementation", 1), /T0001/);
    await expectStep(by.follow("incremental-implementation", 2), /rev \d/);
    await expectStep(by.follow("tdd", 1), /S1/);
    await expectStep(by.follow("incremental-implementation", 4), /1 file/);
    expect((await by.follow("tdd", 3)).text, "a test that passes is no red").toMatch(/meant to fail/);
    by.save("test/upload", "tries=3\n");
    await expectStep(by.follow("tdd", 3), /red/);
    by.save("src/upload.sh", "tries=3\n");
    await expectStep(by.follow("tdd", 5, { begins: "pawl verify" }), /green/);
    await expectStep(by.follow("tdd", 6), /passed|check/);
    await expectStep(by.follow("incremental-implementation", 6), /D\d/);
    by.commit();
    const closed = await expectStep(by.follow("tdd", 9), /S1 closed/);
    expect(closed.text).not.toMatch(/evidence/);
    await expectStep(by.follow("tdd", "Gate", { begins: "pawl verify" }));
    await expectStep(by.follow("tdd", "Gate", { begins: "pawl session" }), /1 of 1 closed/);
    const second = { with: { S1: "S2" } };
    await expectStep(by.follow("incremental-implementation", 3), /S2/);
    by.save("test/upload", "tries=4\n");
    await expectStep(by.follow("tdd", 3, second), /red/);
    by.save("src/upload.sh", "tries=4\n");
    await expectStep(by.follow("tdd", 5, { begins: "pawl verify --slice", ...second }), /green/);
    by.commit();
    await expectStep(by.follow("incremental-implementation", 8, second), /S2 closed/);
    await expectStep(by.follow("incremental-implementation", 9, { begins: "pawl verify`" }));
    await expectStep(by.follow("incremental-implementation", 9, { begins: "pawl verify --" }));
    await expectStep(by.follow("incremental-implementation", 10), /rev \d/);
    await expectStep(by.follow("incremental-implementation", "Gate"));
  });

  test("investigate and auto-fix, to a fix, and to a handoff of what failed", async () => {
    by.save("test/upload", "tries=5\n");
    await expectStep(by.follow("investigate", 1), /red/);
    await expectStep(by.follow("investigate", 2));
    await expectStep(by.follow("investigate", 6), /D\d/);
    await expectStep(by.follow("investigate", 10), /N0001/);
    await expectStep(by.follow("investigate", "Stop"), /H1/);
    await expectStep(by.follow("auto-fix", 1, { begins: "pawl session" }), /T0001/);
    await expectStep(by.follow("auto-fix", 2), /red/);
    expect((await by.follow("auto-fix", 6)).ok).toBe(false);
    await expectStep(by.follow("auto-fix", 7), /D\d/);
    await expectStep(by.follow("auto-fix", "Stop", { begins: "pawl task update" }), /blocked/);
    await expectStep(by.follow("auto-fix", "Stop", { begins: "pawl handoff" }), /H2/);
    by.save("src/upload.sh", "tries=5\n");
    by.commit();
    await expectStep(by.follow("auto-fix", 6));
    await expectStep(by.follow("auto-fix", 8));
    await expectStep(by.follow("investigate", "Gate"));
    await by.follow("auto-fix", "Gate");
  });

  test("handoff-lifecycle: leaving and entering", async () => {
    await expectStep(by.follow("handoff-lifecycle", 8, { begins: "pawl verify`" }));
    await expectStep(by.follow("handoff-lifecycle", 8, { begins: "pawl verify --" }));
    await expectStep(by.follow("handoff-lifecycle", 9), /H3/);
    await expectStep(by.follow("handoff-lifecycle", 10), /saved/);
    await expectStep(by.follow("handoff-lifecycle", "Gate"), /last handoff T0001\/H3/);
    await expectStep(by.follow("handoff-lifecycle", 1, { begins: "pawl session`" }), /T0001/);
    await expectStep(by.follow("handoff-lifecycle", 1, { begins: "pawl session <" }), /T0001/);
    await expectStep(by.follow("handoff-lifecycle", 2), /H3/);
    await expectStep(by.follow("handoff-lifecycle", 3), /cd '/);
    await expectStep(by.follow("handoff-lifecycle", 4), /D\d/);
    await expectStep(by.follow("handoff-lifecycle", 6), /T0001/);
  });

  test("branch-review and review-parallel", async () => {
    await expectStep(by.follow("branch-lifecycle", 5, { begins: "pawl verify`" }));
    await expectStep(by.follow("branch-lifecycle", 5, { begins: "pawl verify --" }));
    await expectStep(by.follow("branch-lifecycle", 6, { begins: "pawl check" }));
    await expectStep(by.follow("branch-lifecycle", 6, { begins: "pawl task update" }), /review/);
    expect((await by.follow("branch-review", 1)).text).toMatch(/You wrote this work/);
    const start = await expectStep(by.follow("branch-review", 1, reviewer), /--head [0-9a-f]{12}/);
    expect(start.text).not.toMatch(/You wrote/);
    await expectStep(by.follow("branch-review", 2, { ...reviewer, begins: "pawl finding list" }), /F1/);
    await expectStep(by.follow("branch-review", 3, reviewer), /tries=5/);
    await expectStep(by.follow("branch-review", "Stop", reviewer));
    await expectStep(by.follow("branch-review", 6, reviewer), /F3/);
    await expectStep(by.follow("review-parallel", 1, reviewer), /F3/);
    await expectStep(by.follow("review-parallel", 3, { ...reviewer, begins: "pawl finding add" }), /F4/);
    await expectStep(by.follow("review-parallel", 5, reviewer), /F3.*F4/s);
    await expectStep(by.follow("review-parallel", 6, reviewer), /wontfix/);
    const found = { ...reviewer, with: { F1: "F3", F2: "F4" } };
    await expectStep(by.follow("review-parallel", 7, found), /V3 branch: fail(?!.*not counted)/);
    await expectStep(by.follow("review-parallel", "Gate", reviewer), /F3.*F4/s);
    await expectStep(by.follow("branch-review", "Gate", reviewer), /F3/);
  });

  test("settling, the close gate, the human's approval, and the end", async () => {
    by.save("src/upload.sh", "tries=5 # bounded\n");
    by.commit();
    const fixed = { begins: "pawl finding resolve", with: { F1: "F3" } };
    await expectStep(by.follow("branch-lifecycle", 8, fixed), /fixed/);
    const again = { ...reviewer, begins: "pawl finding reopen", with: { F1: "F3" } };
    await expectStep(by.follow("branch-review", 2, again), /open/);
    by.save("src/upload.sh", "tries=5 # at most\n");
    by.commit();
    await expectStep(by.follow("branch-lifecycle", 8, fixed), /fixed/);
    await expectStep(by.follow("branch-lifecycle", 5, { begins: "pawl verify`" }));
    expect((await by.follow("branch-lifecycle", "Gate")).ok).toBe(false);
    await expectStep(by.follow("branch-review", 7, reviewer), /V4 branch: pass(?!.*not counted)/);
    await expectStep(by.follow("branch-lifecycle", 9, { begins: "pawl handoff" }), /H4/);
    await expectStep(by.follow("branch-lifecycle", 9, { begins: "pawl snapshot" }), /saved/);
    await expectStep(by.follow("branch-lifecycle", "After the gate", { begins: "pawl refresh" }));
    await expectStep(by.follow("branch-lifecycle", "Gate"), /approve T0001/);
    const approved = await by.follow("branch-lifecycle", 10);
    expect(approved.ok).toBe(false);
    expect(approved.text).toMatch(/human|terminal|not for agents/);
    await expectStep(by.follow("branch-lifecycle", "Stop", { begins: "pawl finish" }), /kept/);
    await expectStep(by.follow("branch-lifecycle", 3, { begins: "pawl start <task> --claim" }), /cd '/);
    const yes = await by.human(["approve", "T0001"], "T0001");
    expect(yes.code, yes.out).toBe(0);
    by.worktree = by.path;
    await expectStep(by.follow("branch-lifecycle", 11), /removed/);
  });

  test("starting, changing a plan, and what only a human may do", async () => {
    const second = { with: { "<task>": "T0002" } };
    const stopped = await by.follow("auto-fix", 1, { begins: "pawl start", ...second });
    expect([stopped.ok, stopped.text]).toEqual([
      false,
      expect.stringContaining("needs a reviewed plan first"),
    ]);
    const lowered = await by.human(["task", "update", "T0002", "--profile", "light"], "");
    expect(lowered.code, lowered.out).toBe(0);
    await expectStep(by.follow("auto-fix", 1, { begins: "pawl start", ...second }), /cd '/);
    const plan = { with: { "<the whole plan>": "Another way." } };
    await expectStep(
      by.follow("incremental-implementation", "Stop", { begins: "pawl task update", ...plan }),
    );
    for (const command of ["pawl approve", "pawl unlock"])
      expect((await by.follow("pawl", "Stop", { begins: command })).ok, command).toBe(false);
  });

  test("every command of a skill was run", () => {
    const all = new Set<string>();
    for (const { name, path, text } of renderAll()) {
      // A manager's is followed by a manager, below.
      if (!path.startsWith(".agents/") || !path.endsWith("SKILL.md") || name === "manage") continue;
      for (const command of commandsIn(text)) if (!isMention(command)) all.add(`${name}: ${command}`);
    }
    expect(all.size).toBeGreaterThan(80);
    expect([...all].filter((one) => !by.followed.has(one))).toEqual([]);
  });
});

/** A manager has no shell, so that its own surface is MCP. */
const MANAGED = IS_LONG ? SURFACES : (["MCP"] as const);

describe.each(MANAGED)("manage, to the letter, in a manager's own run: %s", (surface) => {
  let by: ManagedFollower;
  const followed = new Set<string>();
  beforeAll(() => {
    by = new ManagedFollower(surface);
  });
  afterAll(() => by.project.remove());

  const skill = () => renderAll().find((one) => one.name === "manage" && one.path.startsWith(".agents/"));
  const own: Record<string, string> = {
    ...{ "<task>": "T1", "<agent>": "worker", "<another agent>": "worker", "<path>": "T0002.txt" },
  };
  /** The first command of the skill that begins so; other ids than its own stand in place of them. */
  const follow = (begins: string, ids: Record<string, string> = {}) => {
    const command = commandsIn(skill()?.text ?? "").find((one) => one.startsWith(`pawl ${begins}`)) ?? begins;
    followed.add(command);
    const words = shellWords(command).slice(1);
    return by.follow(words.map((word) => ids[word] ?? own[word] ?? word.replace(/^<(.*)>$/, "$1")));
  };

  test("a part is delegated, retried, reviewed, accepted and handed over; another is abandoned", async () => {
    await by.project.pawl("task", "new", "Whole", "--profile", "standard");
    const started = await by.project.pawl(
      ...[
        "run",
        "T1",
        "--agent",
        "boss",
        "--mode",
        "manager",
        "--agents",
        "worker",
        "--at-once",
        "2",
        "--json",
      ],
    );
    expect(started.code, started.out).toBe(0);
    await expectStep(follow("session"), /T0001 Whole/);
    await expectStep(follow("task new"), /T0002/);
    await expectStep(follow("task new"), /T0003/);
    await expectStep(follow("lane add"), /T0002\/L1/);
    expect((await follow("run T2 --agent")).text).toMatch(/plan_missing|has no plan yet/);
    await expectStep(follow("task update"), /rev/);
    await expectStep(follow("run T2 --agent"), /T0002\/R1/);
    await expectStep(follow("run T2 --agent", { T2: "T3" }), /T0003\/R1/);
    await expectStep(follow("run wait"), /succeeded/);
    await expectStep(follow("run wait", { "T2/R1": "T3/R1" }), /succeeded/);
    await expectStep(follow("mail list"), /M1[\s\S]*M2/);
    for (const id of ["T1/M1", "T1/M2"]) await expectStep(follow("mail ack", { "T1/M1": id }), /attempt 1/);
    await expectStep(follow("run log"));
    await expectStep(follow("run settle T2/R1 retry"), /to be retried/);
    await expectStep(follow("run resume"), /attempt 2/);
    await expectStep(follow("run wait"), /succeeded/);
    await expectStep(follow("mail ack", { "T1/M1": "T1/M3" }), /attempt 2/);
    await expectStep(follow('run T2 --agent "<another agent>"'), /T0002\/R2/);
    await expectStep(follow("run wait", { "T2/R1": "T2/R2" }), /succeeded/);
    await expectStep(follow("mail ack", { "T1/M1": "T1/M4" }), /verdicts: T0002\/V1 branch pass/);
    await expectStep(follow("run settle T2/R1 accept", { "T2/R1": "T2/R2" }), /accepted/);
    await expectStep(follow("run settle T2/R1 accept"), /accepted/);
    await expectStep(follow("run settle T2/R1 abandon", { "T2/R1": "T3/R1" }), /abandoned/);
    await expectStep(follow("decide"), /D1/);
    await expectStep(follow("mail send"), /M5 to human/);
    expect((await follow("check")).ok).toBe(false);
    await expectStep(follow("handoff"), /T0002\/R1 worker as author succeeded.*accepted: pawl approve T0002/);
    await expectStep(follow("check"), /can be handed over/);
    by.end();
    const over = await by.project.pawl("run", "wait", "T1/R1", "--for", "60s", "--json");
    expect(over.json.data.runs[0]).toMatchObject({ state: "succeeded" });
    const all = commandsIn(skill()?.text ?? "").filter((one) => !isMention(one) && one !== "pawl run");
    expect(all.filter((one) => !followed.has(one))).toEqual([]);
  }, 240_000);
});

/** Words about a command, without what it would need to be run. */
const isMention = (command: string) =>
  /^pawl(?: (?:handoff|decide|verify|start|refresh|session))?$/.test(command);

test("in a project without configured checks, the step's advice works", async () => {
  const by = new Follower("command line", built.pawl, "profile: light\n");
  try {
    await expectStep(by.follow("scope", "Use"), /T0001/);
    const started = await expectStep(
      by.follow("branch-lifecycle", 3, { begins: "pawl start <task>`" }),
      /cd '/,
    );
    by.worktree = /cd '(.+)'/.exec(started.text)?.[1] ?? "";
    const bare = await by.follow("branch-lifecycle", 5, { begins: "pawl verify`" });
    expect(bare.text).toMatch(/names no checks|passed/);
    await expectStep(by.follow("branch-lifecycle", 5, { begins: "pawl verify --" }), /E\d/);
  } finally {
    await by.close();
  }
});

test.each(SURFACES)("an example copied with its brackets is refused: %s", async (surface) => {
  const by = new Follower(surface, built.pawl, "profile: light\n");
  try {
    const copied = { "<the fix in a few words>": "<the fix in a few words>" };
    const outcome = await by.follow("scope", "Use", { with: copied });
    expect(outcome.ok).toBe(false);
    expect(outcome.text).toMatch(/placeholder/);
    await expectStep(by.follow("pawl", 1), /No task/);
  } finally {
    await by.close();
  }
});
