// @module-tag proof
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";

/**
 * Whole pipelines with programs of the project's own in place of agents: real conductors, supervisors, records and gates.
 * The real agents are in test/agents/pipeline.test.ts.
 */
const AGENT = `
prompt=$(cat)
ledger="$(git rev-parse --path-format=absolute --git-common-dir)/ledger.$PAWL_TASK"
pawl() { node "$PAWL" "$@"; }
hand_over() { pawl verify; pawl handoff --what "$1" --next "look at it"; }
[ -z "$SLOW" ] || sleep 1
case "$prompt" in
  "You are the author of "*)
    echo author >> "$ledger"
    echo bug > sum.txt; git add sum.txt; git commit -qm "Write it"; hand_over written ;;
  "You review "*)
    echo reviewer >> "$ledger"
    [ "$HOW" = silent ] && exit 0
    if grep -q bug sum.txt; then
      pawl finding add "It has a bug" --severity high --kind branch --file sum.txt --line 1
      pawl review record --kind branch --verdict fail --looked-at sum.txt
    else pawl review record --kind branch --verdict pass --looked-at sum.txt
    fi ;;
  "You fix "*)
    echo fixer >> "$ledger"
    case "$HOW" in
      idle) exit 0 ;;
      stubborn) echo "bug again $(wc -l < "$ledger")" > sum.txt ;;
      *) echo fixed > sum.txt ;;
    esac
    git commit -qam "Fix it"
    for id in $(pawl finding list --status open --json | node -e 'for (const one of JSON.parse(require("fs").readFileSync(0)).data.findings) console.log(one.id)'); do
      pawl finding resolve "$id"
    done
    hand_over fixed ;;
esac
`;

let project: RunProject;
let tasks = 0;

beforeAll(() => {
  const config =
    "checks:\n  test: test -s sum.txt\nagents:\n  writer:\n    command: [sh, agent.sh]\n  critic:\n    command: [sh, agent.sh]\n";
  project = makeRunProject("pipeline", undefined, config, { "agent.sh": AGENT });
  project.env.PAWL = join(project.path, ".pawl/pawl.cjs");
});
afterAll(() => project.remove());

async function begin(how: string, ...words: string[]) {
  const { json } = await project.pawl("task", "new", `Sum ${++tasks}`, "--json");
  const task: string = json.data.task.id;
  project.env.HOW = how;
  const started = await project.pawl(
    ...["run", task, "--agent", "writer", "--mode", "pipeline", "--reviewer", "critic", ...words, "--json"],
  );
  expect(started.code, started.err).toBe(0);
  const [conductor] = started.json.data.runs;
  expect(conductor).toMatchObject({ role: "conductor", mode: "pipeline", reviewer: "critic" });
  return { task, conductor: conductor.id as string };
}

/** Told with its log, because what went wrong in a stage is only there. */
async function end(conductor: string) {
  const { code, json, err } = await project.pawl("run", "wait", conductor, "--for", "150s", "--json");
  expect(json, err).toBeDefined();
  const log = (await project.pawl("run", "log", conductor)).out;
  return { code, standing: json.data.runs[0], log };
}

const ledgerOf = (task: string) => {
  const file = join(project.path, `.git/ledger.${task}`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const taskOf = async (task: string) => (await project.pawl("task", "show", task, "--json")).json.data.task;

test("what the reviewer finds is fixed and reviewed again; then nothing is left but a human's yes", async () => {
  const { task, conductor } = await begin("converges");
  const { standing, log } = await end(conductor);
  expect(standing.state, log).toBe("succeeded");
  expect(ledgerOf(task)).toEqual(["author", "reviewer", "fixer", "reviewer"]);
  // The receipt is there: without a terminal nobody approves, and nothing else is missing.
  const approved = await project.pawl("approve", task, "--json");
  expect(approved.json.error.code).toBe("no_terminal");
  const check = await project.pawl("check", task, "--stage", "close", "--json");
  expect(check.json.data.check.reasons).toEqual([]);
  expect(check.json.next.command).toBe(`pawl approve ${task}`);
  const runs = (await project.pawl("run", "list", task, "--json")).json.data.runs;
  const children = runs.filter((one: { parent?: string }) => one.parent === conductor);
  expect(children.map((one: { role: string; agent: string }) => `${one.agent} ${one.role}`).sort()).toEqual([
    ...["critic reviewer", "critic reviewer", "writer author", "writer fixer"],
  ]);
  expect(log).toContain("started: critic as reviewer");
  expect(log).toContain("All that is left is a human's approval.");
});

describe("a pipeline that does not get there ends, blocks its task and says why", () => {
  test.each([
    ["idle", "no_progress", ["author", "reviewer", "fixer"], "changed nothing; still open: T"],
    [
      "stubborn",
      "rounds_exhausted",
      ["author", "reviewer", "fixer", "reviewer"],
      "All 1 rounds of fixing are used up; still open: T",
    ],
    ["silent", "no_result", ["author", "reviewer", "reviewer"], "ended without a verdict"],
  ])("%s: %s", async (how, reason, ledger, words) => {
    const { task, conductor } = await begin(how, "--rounds", "1");
    expect(await end(conductor)).toMatchObject({ code: 1, standing: { state: "failed", reason } });
    expect(ledgerOf(task)).toEqual(ledger);
    const { status, blocker } = await taskOf(task);
    expect({ status, blocker }).toMatchObject({ status: "blocked", blocker: expect.stringContaining(words) });
    expect(blocker).toContain(conductor);
    const approved = await project.pawl("approve", task, "--json");
    expect(approved.code).not.toBe(0);
  });
});

describe("the conductor is killed with all that belongs to it", () => {
  const killConductor = (run: string, attempt: number) => {
    const { path, spec } = project.attempt(run, attempt);
    const pid = parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
    for (const one of [pid, ...markedProcesses(spec.mark).map((each) => each.pid)]) send(one, "SIGKILL");
  };

  test("in every stage: each stage runs once, in order, and the end is the same", async () => {
    project.env.SLOW = "1";
    try {
      const { task, conductor } = await begin("converges");
      for (const stage of [1, 2, 3, 4]) {
        await project.waitFor(`stage ${stage}`, () => ledgerOf(task).length >= stage, 90);
        killConductor(conductor, stage);
        expect(await end(conductor)).toMatchObject({
          ...{
            code: 1,
            standing: { state: "interrupted", next: { command: `pawl run resume ${conductor}` } },
          },
        });
        // Of two who resume it at the same moment one does; after the last stage it may be done before the other asks.
        const callers = stage < 4 ? ["ok", "run_open"] : ["ok"];
        const resumed = await Promise.all(
          callers.map(() => project.pawl("run", "resume", conductor, "--json")),
        );
        const said = resumed.map(({ json }) => json.error?.code ?? "ok").sort();
        expect(said, resumed.map((one) => one.out).join()).toEqual(callers);
        if (stage > 1) continue;
        // There is no second pipeline either.
        const again = ["--agent", "writer", "--mode", "pipeline", "--reviewer", "critic", "--json"];
        expect((await project.pawl("run", task, ...again)).json.error.code).toBe("run_open");
      }
      expect(await end(conductor)).toMatchObject({ code: 0, standing: { state: "succeeded", attempts: 5 } });
      expect(ledgerOf(task)).toEqual(["author", "reviewer", "fixer", "reviewer"]);
    } finally {
      delete project.env.SLOW;
    }
  }, 240_000);

  test("together with the stage at work: it continues, and the stage starts once more", async () => {
    project.env.SLOW = "1";
    try {
      const { task, conductor } = await begin("converges");
      const author = `${task}/R2`;
      await project.waitFor(
        "the author",
        () => existsSync(join(project.path, ".git/pawl/runs", `${task}.R2`, "a1/started/pid")),
        90,
      );
      killConductor(conductor, 1);
      killConductor(author, 1);
      rmSync(join(project.path, `.git/ledger.${task}`), { force: true });
      expect((await project.pawl("run", "resume", conductor)).code).toBe(0);
      expect(await end(conductor)).toMatchObject({ code: 0, standing: { state: "succeeded" } });
      expect(ledgerOf(task)).toEqual(["author", "reviewer", "fixer", "reviewer"]);
      expect(project.read(`tasks/${task}/runs/R2/run.md`)).toMatch(/- number: 2\n {4}agent: writer/);
    } finally {
      delete project.env.SLOW;
    }
  }, 240_000);
});

describe("refusals", () => {
  test.each([
    ["nobody else is there to review", ["--mode", "pipeline"], 3, "no_reviewer"],
    ["an unknown reviewer", ["--mode", "pipeline", "--reviewer", "nobody"], 4, "no_agent"],
    ["a role", ["--mode", "pipeline", "--role", "fixer", "--reviewer", "critic"], 3, "not_for_mode"],
    ["rounds without a pipeline", ["--rounds", "2"], 3, "not_for_mode"],
  ])("%s", async (_, words, code, name) => {
    const { json } = await project.pawl("task", "new", `Refused ${++tasks}`, "--json");
    const said = await project.pawl("run", json.data.task.id, "--agent", "writer", ...words, "--json");
    expect(said).toMatchObject({ code, json: { error: { code: name } } });
    expect(existsSync(join(project.path, ".pawl/state/tasks", json.data.task.id, "runs"))).toBe(false);
  });
});
