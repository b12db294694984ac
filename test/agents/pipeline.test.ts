// @module-tag proof
import { afterAll, beforeAll, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type ScriptedModel, type Step, startModel } from "./scripted-model.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/** Pipelines across two vendors' real programs, against scripted models: written, found, fixed, passed, or not. */
const { claude, codex } = dialects;

const shell = (line: string) => ({ call: claude.shell(line) });
/** What Claude records of its work before it ends, and what it says to nobody but its own conversation. */
const handsOver = (what: string, say: string): Step[] => [
  { call: claude.mcp("verify", {}) },
  { call: claude.mcp("handoff", { what, next: "review it" }) },
  { say },
];
const writes: Step[] = [
  shell("echo 'sum = a' > sum.txt && git add -A && git commit -qm 'Write the sum'"),
  ...handsOver("The sum is there", "Written."),
];
/** The author goes on as the fixer in the same conversation. */
const fixes: Step[] = [
  shell("echo 'sum = a + b' > sum.txt && git commit -qam 'Add b'"),
  { call: claude.mcp("finding_resolve", { finding: "F1", note: "b is added" }) },
  ...handsOver("The finding is settled", "Fixed."),
];
const fixesSomethingElse: Step[] = [
  shell("echo '# sums' >> sum.txt && git commit -qam 'Say what it is'"),
  ...fixes.slice(1),
];
const fixesNothing: Step[] = [{ say: "It is good as it is." }];

/** Reviewers, each in a conversation of its own: as many as there are verdicts. */
function reviews(...verdicts: ("pass" | "fail")[]): Step[] {
  let reviewers = 0;
  const verdict = () => verdicts[reviewers - 1] ?? "pass";
  const record = () => ({
    call: codex.mcp("review_record", { kind: "branch", verdict: verdict(), looked_at: ["sum.txt"] }),
  });
  const bug = {
    ...{ text: "b is not added", severity: "high", kind: "branch", file: "sum.txt", line: 1 },
  };
  return [
    () => {
      reviewers++;
      return verdict() === "fail" ? { call: codex.mcp("finding_add", bug) } : record();
    },
    () => (verdict() === "fail" ? record() : { say: "It may pass." }),
    { say: "It may not pass yet." },
  ];
}

let project: RunProject;
const models: ScriptedModel[] = [];

beforeAll(async () => {
  project = makeRunProject("two vendors", await realPrograms(), "checks:\n  test: test -s sum.txt\n");
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all(models.map((one) => one.close()));
  project?.remove();
});

/** A pipeline of Claude and, without being asked for, another vendor's reviewer. */
async function begin(author: Step[], reviewer: Step[], ...words: string[]) {
  const [wrote, reviewed] = [await startModel(author), await startModel(reviewer)];
  models.push(wrote, reviewed);
  project.aimAt({ claude: wrote.url, codex: reviewed.url, copilot: wrote.url });
  const { json } = await project.pawl("task", "new", "Sum", "--json");
  const task: string = json.data.task.id;
  const started = await project.pawl(
    ...["run", task, "--agent", "claude", "--mode", "pipeline", ...words, "--json"],
  );
  expect(started.code, started.err).toBe(0);
  const [conductor] = started.json.data.runs;
  expect(conductor.reviewer).toBe("codex");
  return { task, conductor: conductor.id as string, reviewed };
}

async function end(conductor: string) {
  const { json } = await project.pawl("run", "wait", conductor, "--for", "150s", "--json");
  return json.data.runs[0];
}

async function stagesOf(task: string, conductor: string): Promise<string[]> {
  const listed = await project.pawl("run", "list", task, "--json");
  return listed.json.data.runs
    .filter((one: { parent?: string }) => one.parent === conductor)
    .map((one: { id: string; agent: string; role: string }) => `${one.id} ${one.agent} ${one.role}`)
    .sort();
}

test("Claude writes, Codex finds a bug, Claude fixes it, Codex passes it: only a human's approval is left", async () => {
  const { task, conductor, reviewed } = await begin([...writes, ...fixes], reviews("fail", "pass"));
  expect(await end(conductor), (await project.pawl("run", "log", conductor)).out).toMatchObject({
    state: "succeeded",
  });
  expect(await stagesOf(task, conductor)).toEqual([
    `${task}/R2 claude author`,
    `${task}/R3 codex reviewer`,
    `${task}/R4 claude fixer`,
    `${task}/R5 codex reviewer`,
  ]);
  expect(project.git("log", "--format=%s", `main..task/${task}-sum`)).toBe("Add b\nWrite the sum");
  expect(project.read(`tasks/${task}/findings/F1.md`)).toMatch(/status: fixed/);
  expect(project.read(`tasks/${task}/reviews/V2.md`)).toMatch(/verdict: pass[\s\S]*counts: true/);
  // The fixer is the author's own conversation; the reviewer never saw it.
  const session = (run: string) =>
    /^ {4}session: (.*)$/m.exec(project.read(`tasks/${task}/runs/${run}/run.md`))?.[1];
  expect(session("R4")).toBe(session("R2"));
  expect(session("R5")).not.toBe(session("R3"));
  expect(reviewed.requests.some((one) => one.text.includes("Written."))).toBe(false);
  await expectOnlyYesMissing(task);
}, 240_000);

/** The receipt is there: without a terminal nobody approves, and nothing else is missing. */
async function expectOnlyYesMissing(task: string): Promise<void> {
  const approved = await project.pawl("approve", task, "--json");
  expect(approved.json.error.code).toBe("no_terminal");
  const check = await project.pawl("check", task, "--stage", "close", "--json");
  expect(check.json.next.command).toBe(`pawl approve ${task}`);
}

test("killing the conductor during each of the four stages repeats none of them and ends the same", async () => {
  let running = "";
  const killed: number[] = [];
  /** Kills the conductor at the moment in which a stage's model is asked for the first time. */
  const kills = (step: Step | undefined, stage: number): Step => {
    return (request) => {
      if (!killed.includes(stage)) {
        killed.push(stage);
        const { path, spec } = project.attempt(running, killed.length);
        const supervisor = parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
        for (const pid of [supervisor, ...markedProcesses(spec.mark).map((one) => one.pid)])
          send(pid, "SIGKILL");
      }
      return typeof step === "function" ? step(request) : (step ?? {});
    };
  };
  const [found, ...rest] = reviews("fail", "pass");
  let reviewers = 0;
  const reviewing: Step = (request) => {
    const step = kills(found, [2, 4][reviewers++] ?? 4);
    return typeof step === "function" ? step(request) : step;
  };
  const script = [...writes, ...fixes].map((one, nth) =>
    nth === 0 ? kills(one, 1) : nth === writes.length ? kills(one, 3) : one,
  );
  // Known before it is started, because its first stage may be asked before it answers.
  const { json } = await project.pawl("task", "list", "--json");
  running = `T${String(json.data.tasks.length + 1).padStart(4, "0")}/R1`;
  const { task, conductor } = await begin(script, [reviewing, ...rest]);
  expect(conductor).toBe(running);
  let over = await end(conductor);
  for (let resumed = 0; over.state === "interrupted" && resumed < 5; resumed++) {
    expect(over.next.command).toBe(`pawl run resume ${conductor}`);
    expect((await project.pawl("run", "resume", conductor)).code).toBe(0);
    over = await end(conductor);
  }
  expect(killed).toEqual([1, 2, 3, 4]);
  expect(over, (await project.pawl("run", "log", conductor)).out).toMatchObject({
    ...{ state: "succeeded", attempts: 5 },
  });
  expect(await stagesOf(task, conductor)).toEqual([
    `${task}/R2 claude author`,
    `${task}/R3 codex reviewer`,
    `${task}/R4 claude fixer`,
    `${task}/R5 codex reviewer`,
  ]);
  expect(project.git("log", "--format=%s", `main..task/${task}-sum`)).toBe("Add b\nWrite the sum");
  await expectOnlyYesMissing(task);
}, 400_000);

test.each([
  ["nothing is fixed", fixesNothing, ["fail"], "no_progress", "changed nothing; still open: "],
  [
    "something else is fixed",
    fixesSomethingElse,
    ["fail", "fail"],
    "rounds_exhausted",
    "All 1 rounds of fixing are used up; still open: ",
  ],
] as const)(
  "%s: the task is blocked and says why",
  async (_, fixer, verdicts, reason, words) => {
    const { task, conductor } = await begin([...writes, ...fixer], reviews(...verdicts), "--rounds", "1");
    expect(await end(conductor), (await project.pawl("run", "log", conductor)).out).toMatchObject({
      ...{ state: "failed", reason },
    });
    const { status, blocker } = (await project.pawl("task", "show", task, "--json")).json.data.task;
    expect({ status, blocker }).toEqual({ status: "blocked", blocker: expect.stringContaining(words) });
    expect(blocker).toContain(`${task}/F`);
  },
  240_000,
);
