import { afterAll, beforeAll, expect, test } from "vitest";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type ScriptedModel, type Step, startModel } from "./scripted-model.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/** A pipeline across two vendors' real programs, against scripted models: written, found, fixed, passed. */
const { claude, codex } = dialects;

/** The author, who goes on as the fixer in the same conversation. */
const WRITES: Step[] = [
  { call: claude.shell("echo 'sum = a' > sum.txt && git add -A && git commit -qm 'Write the sum'") },
  { call: claude.mcp("verify", {}) },
  { call: claude.mcp("handoff", { what: "The sum is written", next: "review it" }) },
  { say: "Written." },
  { call: claude.shell("echo 'sum = a + b' > sum.txt && git commit -qam 'Add b'") },
  { call: claude.mcp("finding_resolve", { finding: "F1", note: "b is added" }) },
  { call: claude.mcp("verify", {}) },
  { call: claude.mcp("handoff", { what: "The finding is fixed", next: "review it again" }) },
  { say: "Fixed." },
];

/** Two reviewers, each in a conversation of its own. */
function reviews(): Step[] {
  let reviewers = 0;
  const record = (verdict: string) => ({
    call: codex.mcp("review_record", { kind: "branch", verdict, looked_at: ["sum.txt"] }),
  });
  const bug = {
    ...{ text: "b is not added", severity: "high", kind: "branch", file: "sum.txt", line: 1 },
  };
  return [
    () => (++reviewers === 1 ? { call: codex.mcp("finding_add", bug) } : record("pass")),
    () => (reviewers === 1 ? record("fail") : { say: "It may pass." }),
    { say: "It may not pass yet." },
  ];
}

let project: RunProject;
const models: ScriptedModel[] = [];

beforeAll(async () => {
  project = makeRunProject("two vendors", await realPrograms(), "checks:\n  test: test -s sum.txt\n");
  for (const script of [WRITES, reviews()]) models.push(await startModel(script));
  const [writes = "", reviewed = ""] = models.map((one) => one.url);
  project.aimAt({ claude: writes, codex: reviewed, copilot: writes });
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all(models.map((one) => one.close()));
  project?.remove();
});

test("Claude writes, Codex finds a bug, Claude fixes it, Codex passes it: the human's yes is all that is left", async () => {
  const { json } = await project.pawl("task", "new", "Sum", "--json");
  const task: string = json.data.task.id;
  const started = await project.pawl("run", task, "--agent", "claude", "--mode", "pipeline", "--json");
  expect(started.code, started.err).toBe(0);
  const [conductor] = started.json.data.runs;
  // Another vendor's, without being asked for.
  expect(conductor.reviewer).toBe("codex");
  const ended = await project.pawl("run", "wait", conductor.id, "--for", "150s", "--json");
  const log = (await project.pawl("run", "log", conductor.id)).out;
  expect(ended.json.data.runs[0], log).toMatchObject({ state: "succeeded" });
  const listed = await project.pawl("run", "list", task, "--json");
  const stages = listed.json.data.runs
    .filter((one: { parent?: string }) => one.parent === conductor.id)
    .map((one: { id: string; agent: string; role: string }) => `${one.id} ${one.agent} ${one.role}`)
    .sort();
  expect(stages).toEqual([
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
  expect(models[1]?.requests.some((one) => one.text.includes("Written."))).toBe(false);
  // The receipt is there: without a terminal nobody approves, and nothing else is missing.
  const approved = await project.pawl("approve", task, "--json");
  expect(approved.json.error.code).toBe("no_terminal");
  const check = await project.pawl("check", task, "--stage", "close", "--json");
  expect(check.json.next.command).toBe(`pawl approve ${task}`);
}, 240_000);
