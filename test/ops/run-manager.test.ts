// @module-tag proof
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { tryAcquire } from "../../src/files/intent-lock.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";

/**
 * Whole manager's runs with programs of the project's own in place of agents: real supervisors, records, envelopes and
 * gates. A real agent manages in test/agents/manager.test.ts.
 */
const BOSS = `
cat > /dev/null
pawl() { node "$PAWL" "$@"; }
# What is tried is shown with its answer's code.
try() { printf '%s => ' "$*"; pawl "$@" --json | node -e 'const a = JSON.parse(require("fs").readFileSync(0)); console.log(a.ok ? "ok" : a.error.code)'; }
read_all() { for id in $(pawl mail list "$PAWL_TASK" --json | node -e 'for (const one of JSON.parse(require("fs").readFileSync(0)).data.mail) console.log(one.id)'); do try mail ack $id; done; }
. "$SCRIPT"
`;
const WORKER = `
cat > /dev/null
pawl() { node "$PAWL" "$@"; }
case "$(cat "$WORK/$PAWL_TASK" 2>/dev/null)" in
  fail) echo "cannot" >&2; exit 3 ;;
  wait) echo waiting; while [ -e "$WORK/$PAWL_TASK" ]; do sleep 0.1; done ;;
  rebel)
    PAWL_RUN=$BOSS_RUN pawl run "$PAWL_TASK" --agent worker --json
    PAWL_RUN=$BOSS_RUN pawl run settle "$PAWL_RUN" accept "I like it" --json
    pawl mail send manager "I tried" ;;
esac
echo work > "$PAWL_TASK.txt"; git add -A; git commit -qm "Work of $PAWL_RUN"
pawl verify; pawl handoff --what "Part $PAWL_TASK is written" --next "look at it"
`;

let project: RunProject;
let task: string;
let tasks = 0;

beforeAll(() => {
  const agents = ["boss", "worker", "stranger"]
    .map((name) => `  ${name}:\n    command: [sh, ${name === "boss" ? "boss" : "worker"}.sh]\n`)
    .join("");
  const config = `checks:\n  test: test -d .\nruns: agents\nagents:\n${agents}`;
  project = makeRunProject("manager", undefined, config, { "boss.sh": BOSS, "worker.sh": WORKER });
  Object.assign(project.env, {
    PAWL: join(project.path, ".pawl/pawl.cjs"),
    SCRIPT: join(project.path, ".git/script"),
    WORK: join(project.path, ".git"),
  });
});
afterAll(() => project.remove());

beforeEach(async () => {
  task = await newTask();
  project.env.BOSS_RUN = `${task}/R1`;
});

async function newTask(): Promise<string> {
  const { json } = await project.pawl("task", "new", `Whole ${++tasks}`, "--json");
  return json.data.task.id;
}

/** The id of the nth task after the one that is managed. */
const part = (nth: number) => `T${String(Number(task.slice(1)) + nth).padStart(4, "0")}`;
const script = (lines: string) => writeFileSync(project.env.SCRIPT ?? "", lines.replaceAll("TASK", task));
const behave = (id: string, how: string) => writeFileSync(join(project.env.WORK ?? "", id), how);
const manage = (...words: string[]) =>
  project.pawl("run", task, "--agent", "boss", "--mode", "manager", "--agents", "worker", ...words, "--json");
const ended = async (run: string) => {
  const { json } = await project.pawl("run", "wait", run, "--for", "120s", "--json");
  return json.data.runs[0];
};
const logOf = async (run: string) => (await project.pawl("run", "log", run)).out;
const outOf = (run: string) => join(project.path, ".git/pawl/runs", run.replace("/", "."), "a1/out");
const recordOf = (run: string) => project.read(`tasks/${run.replace("/", "/runs/")}/run.md`);

test("three parts, one of which fails: plan, delegation, settlement, handoff, and every refusal on the way", {
  timeout: 180_000,
}, async () => {
  const [a, b, c] = [part(1), part(2), part(3)];
  // Both are at work for as long as the third is refused because of them.
  for (const id of [a, b]) behave(id, "wait");
  behave(c, "fail");
  script(`
for name in A B C; do try task new "Part $name"; done
try run ${a} --agent worker
try task update TASK --plan "A, B and C, one worker each"
try run ${a} --agent stranger
try run ${a} --agent worker --mode pipeline
try run ${a} --agent boss --mode manager
try run TASK --agent worker
try run ${a} --agent worker
try run ${b} --agent worker
try run ${c} --agent worker
rm "$WORK/${a}" "$WORK/${b}"
pawl run wait ${a} ${b} --for 60s
try run ${c} --agent worker
pawl run wait ${c} --for 60s
try run settle ${a}/R1 accept "It is what the plan says"
read_all
try run settle ${a}/R1 accept "It is what the plan says"
try run settle ${b}/R1 accept "It is what the plan says"
try run settle ${c}/R1 accept "Good enough"
try check TASK --stage manage
try run settle ${c}/R1 retry "It may have been bad luck"
try run resume ${c}/R1
pawl run wait ${c} --for 60s
read_all
try run settle ${c}/R1 abandon "It fails every time"
try run resume ${c}/R1
try check TASK --stage manage
try handoff TASK --what "A and B are done, C cannot be" --next "approve A and B"
pawl check TASK --stage manage
`);
  const started = await manage("--at-once", "2", "--in-all", "4", "--time", "20m");
  expect(started.code, started.out).toBe(0);
  const over = await ended(`${task}/R1`);
  const log = await logOf(`${task}/R1`);
  const said = (words: string) =>
    log
      .split("\n")
      .filter((line) => line.startsWith(words))
      .map((line) => line.split(" => ")[1]);
  expect(said(`run ${a} --agent worker `), log).toEqual(["plan_missing", "depth", "ok"]);
  expect(said(`run ${a} --agent boss`)).toEqual(["depth"]);
  expect(said(`run ${a} --agent stranger`)).toEqual(["agent_not_allowed"]);
  expect(said(`run ${task} `)).toEqual(["not_in_tree"]);
  expect(said(`run ${c} `)).toEqual(["envelope_full", "ok"]);
  expect(said(`run settle ${a}/R1`)).toEqual(["report_unread", "ok"]);
  expect(said(`run settle ${c}/R1`)).toEqual(["not_acceptable", "ok", "ok"]);
  expect(said(`run resume ${c}/R1`)).toEqual(["ok", "envelope_spent"]);
  expect(log).toContain(`${task} can be handed over`);
  expect(over).toMatchObject({ state: "succeeded", role: "manager" });
  expect(recordOf(`${task}/R1`)).toMatch(
    /^envelope:\n {2}agents: \[worker\]\n {2}at_once: 2\n {2}in_all: 4$/m,
  );

  // What pawl saw of each child went to its manager, with the worker's own words.
  const report = project.read(`tasks/${task}/mail/M1.md`);
  for (const line of [`to: ${task}/R1`, "from_run: T\\d+/R1", "run: T\\d+/R1", "report: true"])
    expect(report).toMatch(new RegExp(`^${line}$`, "m"));
  for (const line of [
    /^worker as author: T\d+\/R1, attempt 1, succeeded/m,
    /1 file changed on the branch/,
    /^checks: T\d+\/E1 .*: exit 0$/m,
    /^Its handoff T\d+\/H1 says: Part T\d+ is written$/m,
  ])
    expect(report).toMatch(line);
  // The handoff names each child, from the records, with the one command that is next.
  const handoff = project.read(`tasks/${task}/handoffs/H1.md`);
  expect(handoff).toMatch(
    new RegExp(`${a}/R1 worker as author succeeded, at [0-9a-f]{12}, accepted: pawl approve ${a}`),
  );
  expect(handoff).toMatch(
    new RegExp(`${c}/R1 worker as author failed \\(exit\\).*, abandoned: pawl task show ${c}`),
  );
  const check = await project.pawl("check", a, "--json");
  expect(check.json.next.command).toBe(`pawl approve ${a}`);
});

test("a manager that is killed: what it started keeps running, and it resumes from what happened since", {
  timeout: 120_000,
}, async () => {
  const a = part(1);
  behave(a, "wait");
  script(`
try task new "Part"; try task update TASK --plan "One part"; try run ${a} --agent worker; sleep 300`);
  expect((await manage()).code).toBe(0);
  await project.waitFor(
    "the worker works",
    () => existsSync(outOf(`${a}/R1`)) && project.left(`${a}/R1`) > 0,
  );
  const { path, spec } = project.attempt(`${task}/R1`);
  const supervisor = parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
  for (const pid of [supervisor, ...markedProcesses(spec.mark).map((one) => one.pid)]) send(pid, "SIGKILL");
  expect(await ended(`${task}/R1`)).toMatchObject({ state: "interrupted" });
  expect(project.left(`${a}/R1`)).toBeGreaterThan(0);
  const left = project.read(`tasks/${task}/handoffs/H1.md`);
  expect(left).toMatch(
    new RegExp(`automatic: true[\\s\\S]*${a}/R1 worker as author running, at work: pawl run wait ${a}/R1`),
  );
  rmSync(join(project.env.WORK ?? "", a));
  expect(await ended(`${a}/R1`)).toMatchObject({ state: "succeeded" });

  script(
    `read_all; try run settle ${a}/R1 accept "As planned"; try handoff TASK --what "All is done" --next "approve it"`,
  );
  expect((await project.pawl("run", "resume", `${task}/R1`)).code).toBe(0);
  expect(await ended(`${task}/R1`)).toMatchObject({ state: "succeeded", attempts: 2 });
  const prompt = readFileSync(join(project.attempt(`${task}/R1`, 2).path, "in"), "utf8");
  expect(prompt).toContain("The runs it started continued without it. Their state:");
  expect(prompt).toMatch(
    new RegExp(`- ${a}/R1 worker as author succeeded.*, not settled: pawl run log ${a}/R1`),
  );
  expect(prompt).toMatch(
    new RegExp(`## Mail\\n\\n${task}/M1 from ${a}/R1 \\(pawl\\) about ${a}/R1:\\n> worker as author`),
  );
});

test("two that it resumes at the same moment do not use the same room", {
  timeout: 120_000,
}, async () => {
  const [a, b] = [part(1), part(2)];
  for (const id of [a, b]) behave(id, "fail");
  script(`
for name in A B; do try task new "Part $name"; done
try task update TASK --plan "Two parts"
for id in ${a} ${b}; do try run $id --agent worker; done
pawl run wait ${a} ${b} --for 60s
touch "$WORK/both-ended"; while [ -e "$WORK/both-ended" ]; do sleep 0.1; done
try run resume ${a}/R1 > "$WORK/one" & try run resume ${b}/R1 > "$WORK/two" & wait
cat "$WORK/one" "$WORK/two"
pawl run wait ${a} ${b} --for 60s`);
  expect((await manage("--in-all", "3")).code).toBe(0);
  const flag = join(project.env.WORK ?? "", "both-ended");
  await project.waitFor("both to end", () => existsSync(flag));
  // While nobody gets a part, both commands come as far as they can: what lets both through the envelope does so here.
  const [managers = "", ...parts] = [task, a, b].map((id) =>
    join(project.path, ".pawl/state/.local/held", id),
  );
  const releases = parts.map((lock) => tryAcquire(lock));
  expect(releases).not.toContain(undefined);
  const began = Date.now();
  rmSync(flag);
  while (readdirSync(managers).length === 0 && Date.now() - began < 5_000) await sleep(20);
  // However slow the machine is, the other one needs no longer than this.
  await sleep(1_000 + 2 * (Date.now() - began));
  for (const release of releases) release?.();
  await ended(`${task}/R1`);
  const log = await logOf(`${task}/R1`);
  const said = [...log.matchAll(/^run resume .* => (.*)$/gm)].map((found) => found[1]);
  expect(said.sort(), log).toEqual(["envelope_spent", "ok"]);
});

test.each([
  ["an agent that is not there", ["--agents", "worker,nobody"], "no_agent"],
  ["a cost that they do not tell", ["--cost", "5"], "limit_unknown"],
  ["two tasks", ["T1"], "one_task"],
  ["rounds", ["--rounds", "2"], "not_for_mode"],
  ["a role", ["--role", "author"], "not_for_mode"],
])("refused before anything is started: %s", async (_, words, code) => {
  expect((await manage(...words)).json.error.code).toBe(code);
  expect(existsSync(join(project.path, ".pawl/state/tasks", task, "runs"))).toBe(false);
});

describe("what counts is what the records and the processes say", () => {
  test("one that ends without having settled what it started has failed, and a worker starts and settles nothing", {
    tags: ["proof"],
    timeout: 120_000,
  }, async () => {
    const a = part(1);
    behave(a, "rebel");
    script(`
try task new "Part"; try task update TASK --plan "One part"; try run ${a} --agent worker
pawl run wait ${a} --for 60s; try task update T1 --notes "Not mine"`);
    await manage();
    expect(await ended(`${task}/R1`)).toMatchObject({ state: "failed", reason: "unsettled" });
    expect(await logOf(`${task}/R1`)).toMatch(/task update T1 .* => not_in_tree/);
    const { json } = await project.pawl("check", task, "--stage", "manage", "--json");
    expect(json.data.check.reasons.map((one: { code: string }) => one.code)).toEqual([
      ...["child_outcome_unread", "child_not_settled", "no_handoff"],
    ]);
    const worker = await logOf(`${a}/R1`);
    expect(worker.match(/"code":"depth"/g)).toHaveLength(2);
    expect(project.read(`tasks/${task}/mail/M1.md`)).toMatch(
      new RegExp(`to: ${task}/R1\\nfrom_run: ${a}/R1`),
    );
  });

  test("an agent that only says that it is the manager is not; nor does it start one", {
    tags: ["proof"],
    timeout: 60_000,
  }, async () => {
    script("sleep 300");
    await manage();
    const said = await asAgent({ ...agent, PAWL_RUN: `${task}/R1` }, "run", task, "--agent", "worker");
    expect(said.error.code).toBe("not_that_run");
    const again = ["run", task, "--agent", "boss", "--mode", "manager"];
    expect((await asAgent(agent, ...again)).error.code).toBe("human_only");
    expect((await manage()).json.error.code).toBe("run_open");
    await project.pawl("run", "stop", `${task}/R1`, "--grace", "1s");
  });

  test("one that starts or resumes a run is told to wait for its end, which it could not look on", {
    tags: ["proof"],
  }, async () => {
    const next = { command: `pawl run wait ${task}/R1` };
    behave(task, "fail");
    expect(await asAgent(agent, "run", task, "--agent", "worker")).toMatchObject({ next });
    expect(await ended(`${task}/R1`)).toMatchObject({ state: "failed" });
    expect(await asAgent(agent, "run", "resume", `${task}/R1`)).toMatchObject({ next });
    await ended(`${task}/R1`);
  });
});

const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "one" };

async function asAgent(env: Record<string, string>, ...argv: string[]) {
  Object.assign(project.env, env);
  try {
    return (await project.pawl(...argv, "--json")).json;
  } finally {
    for (const name of Object.keys(env)) delete project.env[name];
  }
}
