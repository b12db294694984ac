// @module-tag proof
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type RecordedRequest, type ScriptedModel, startModel, type Turn } from "./scripted-model.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/** Real agents as managers, against scripted models. Every rule of the envelope is in test/ops/run-manager.test.ts. */
const { claude, codex } = dialects;
const mcp = claude.mcp;

const WORKER = `
cat > /dev/null
while [ -e "$FLAG" ]; do sleep 0.1; done
echo work > work.txt; git add -A; git commit -qm Work
node "$PAWL" verify; node "$PAWL" handoff --what "Part B is written" --next "look at it"
`;

/** What the manager's model says, one turn after the other, whichever life of it asks. */
const turns: Turn[] = [];
let project: RunProject;
let manager: ScriptedModel;
let worker: ScriptedModel;

beforeAll(async () => {
  const agents = "  slow:\n    command: [sh, worker.sh]\n  broken:\n    command: ['false']\n";
  const config = `checks:\n  test: test -d .\nagents:\n${agents}`;
  project = makeRunProject("manager", await realPrograms(), config, { "worker.sh": WORKER });
  const flag = join(project.path, ".git/wait");
  Object.assign(project.env, { PAWL: join(project.path, ".pawl/pawl.cjs"), FLAG: flag });
  writeFileSync(flag, "");
  manager = await startModel(Array.from({ length: 40 }, () => () => turns.shift() ?? { say: "Done." }));
  worker = await startModel([
    { call: codex.shell("echo a > a.txt && git add -A && git commit -qm 'Write A'") },
    { call: codex.mcp("verify", {}) },
    { call: codex.mcp("handoff", { what: "Part A is written", next: "look at it" }) },
    { say: "Written." },
  ]);
  project.aimAt({ claude: manager.url, codex: worker.url, copilot: manager.url });
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([manager?.close(), worker?.close()]);
  project?.remove();
});

const saidSo = (words: string) => manager.requests.some((one) => one.text.includes(words));

test("Claude manages three parts, one of which fails; killed midway, it resumes and accounts for all three", async () => {
  const settle = (run: string, outcome: string) => ({
    call: mcp("run_settle", { run, outcome, why: "As reported" }),
  });
  const waits: Turn = { call: mcp("run_wait", { run: ["T2/R1", "T3/R1", "T4/R1"], for: "120s" }) };
  turns.push(
    ...["A", "B", "C"].map((name) => ({ call: mcp("task_new", { title: `Part ${name}` }) })),
    { call: mcp("task_update", { task: "T1", plan: "A by codex, B by slow, C by broken" }) },
    { call: mcp("run_start", { task: ["T2"], agent: "codex", message: "Write A" }) },
    { call: mcp("run_start", { task: ["T3"], agent: "slow" }) },
    { call: mcp("run_start", { task: ["T4"], agent: "broken" }) },
    waits,
  );
  await project.pawl("task", "new", "Whole");
  const words = ["--agents", "codex,slow,broken", "--in-all", "4", "--time", "20m"];
  const started = await project.pawl(
    "run",
    "T1",
    "--agent",
    "claude",
    "--mode",
    "manager",
    ...words,
    "--json",
  );
  expect(started.code, started.out).toBe(0);
  const isAtWork = (run: string) =>
    existsSync(join(project.path, ".git/pawl/runs", run.replace("/", "."), "a1/out"));
  await project.waitFor("it waits for all three", () => turns.length === 0 && isAtWork("T0004/R1"), 120);
  await project.waitFor("its conversation is saved", () => project.hasSaved(/run_start/), 60);

  const { path, spec } = project.attempt("T0001/R1");
  const supervisor = parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
  for (const pid of [supervisor, ...markedProcesses(spec.mark).map((one) => one.pid)]) send(pid, "SIGKILL");
  const killed = await project.pawl("run", "wait", "T1/R1", "--for", "60s", "--json");
  expect(killed.json.data.runs[0]).toMatchObject({ state: "interrupted" });
  expect(project.left("T0003/R1")).toBeGreaterThan(0);
  rmSync(join(project.path, ".git/wait"));
  await project.pawl("run", "wait", "T2/R1", "T3/R1", "T4/R1", "--for", "120s");

  turns.push(
    waits,
    ...["M1", "M2", "M3"].map((id) => ({ call: mcp("mail_ack", { message: `T1/${id}` }) })),
    ...[
      settle("T2/R1", "accept"),
      settle("T3/R1", "accept"),
      settle("T4/R1", "accept"),
      settle("T4/R1", "abandon"),
    ],
    { call: mcp("check", { task: "T1", stage: "manage" }) },
    {
      call: mcp("handoff", { task: "T1", what: "A and B are done, C cannot be", next: "approve T2 and T3" }),
    },
    { call: mcp("check", { task: "T1", stage: "manage" }) },
    { say: "Everything is accounted for." },
  );
  expect((await project.pawl("run", "resume", "T1/R1")).code).toBe(0);
  const over = await project.pawl("run", "wait", "T1/R1", "--for", "120s", "--json");
  const log = (await project.pawl("run", "log", "T1/R1")).out;
  expect(over.json.data.runs[0], log).toMatchObject({ state: "succeeded", attempts: 2 });

  // It was told what happened meanwhile, and read what pawl saw of each.
  expect(saidSo("The runs you started continued without you")).toBe(true);
  expect(saidSo("codex as author: T0002/R1, attempt 1, succeeded")).toBe(true);
  expect(saidSo("Its handoff T0002/H1 says: Part A is written")).toBe(true);
  expect(saidSo("broken as author: T0004/R1, attempt 1, failed (exit)")).toBe(true);
  expect(saidSo("not_acceptable")).toBe(true);
  expect(saidSo('"stage":"manage","ready":true')).toBe(true);
  const handoff = project.read("tasks/T0001/handoffs/H2.md");
  expect(handoff).toMatch(/T0002\/R1 codex as author succeeded.*accepted: pawl approve T0002/);
  expect(handoff).toMatch(/T0004\/R1 broken as author failed \(exit\).*abandoned: pawl task show T0004/);
  expect(project.git("log", "--format=%s", "main..task/T0002-part-a")).toBe("Write A");
}, 300_000);

test("a total cost limit is refused if an agent does not report its cost", async () => {
  const { json } = await project.pawl("task", "new", "Cheap", "--json");
  const words = ["--agent", "claude", "--mode", "manager", "--agents", "claude,codex", "--cost", "5"];
  const refused = await project.pawl("run", json.data.task.id, ...words, "--json");
  expect(refused.json.error).toMatchObject({
    code: "limit_unknown",
    message: expect.stringContaining("codex"),
  });
});

/** The names of all tools that a request offers, whatever shape the vendor gives them. */
function toolsIn({ body }: RecordedRequest): string[] {
  // biome-ignore lint/suspicious/noExplicitAny: tools are other programs' JSON
  return (body.tools ?? []).map((tool: any) => tool.name ?? tool.function?.name ?? tool.type);
}

/** What runs, writes or hands work on, in each program's own words. */
const HANDS = {
  claude: /^(?:Bash|Edit|MultiEdit|Write|NotebookEdit|Agent|Task|Workflow|SendMessage|Cron\w*)$/,
  codex: /shell|exec|apply_patch|agent/,
  copilot: /^(?:bash|\w+_bash|create|edit|apply_patch|task|\w+_agents?|sql)$/,
} as const;

test.each(["claude", "codex", "copilot"] as const)(
  "%s as a manager is offered our tools, but none to write, run programs or delegate",
  async (agent) => {
    const model = await startModel([{ say: "Nothing to do." }, { say: "Really." }]);
    try {
      project.aimAt(model.url);
      const { json } = await project.pawl("task", "new", `For ${agent}`, "--json");
      const { id } = json.data.task;
      expect((await project.pawl("run", id, "--agent", agent, "--mode", "manager")).code).toBe(0);
      const over = await project.pawl("run", "wait", `${id}/R1`, "--for", "120s", "--json");
      // It says that it is done, and has not even a plan.
      expect(over.json.data.runs[0]).toMatchObject({ state: "failed", reason: "unsettled" });
      const [first] = model.requests;
      expect(first && dialects[agent].offered(first)).toEqual(
        expect.arrayContaining(["run_start", "run_settle", "mail_ack"]),
      );
      expect(toolsIn(first as RecordedRequest).filter((name) => HANDS[agent].test(name))).toEqual([]);
    } finally {
      await model.close();
    }
  },
  120_000,
);
