// @module-tag proof
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readExit, readGuard } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type ScriptedModel, startModel, type Turn } from "./scripted-model.ts";
import { makeRunProject, type RunProject, type SupervisedName } from "./supervised.ts";

/**
 * What the real programs exit with when something from outside ends them, and what the run is recorded as: a signal that
 * nobody asked pawl for, their own limits, a denial. How they end by themselves and when pawl stops them is pinned in
 * supervised-runs.test.ts. A new version that changes one of these fails here, not in a user's run.
 */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const;
type Signal = (typeof SIGNALS)[number];
type Row = Signal | "SIGTERM, the model hangs" | "--turns" | "--cost" | "denied";

/** Copilot exits with 0 after every signal that it hears, and says so in its stream alone; Codex tells of SIGINT in no way. */
const TABLE: Readonly<Record<SupervisedName, Partial<Record<Row, string>>>> = {
  claude: {
    SIGINT: "0 interrupted exit",
    SIGTERM: "143 interrupted exit",
    SIGHUP: "129 interrupted exit",
    SIGKILL: "137 interrupted exit",
    "SIGTERM, the model hangs": "143 interrupted exit",
    "--turns": "1 interrupted limit_turns",
    "--cost": "1 interrupted limit_cost",
    denied: "0 succeeded denied_tools",
  },
  codex: {
    SIGINT: "1 failed exit",
    SIGTERM: "143 interrupted exit",
    SIGHUP: "129 interrupted exit",
    SIGKILL: "137 interrupted exit",
    "SIGTERM, the model hangs": "143 interrupted exit",
    // Its sandbox fails the command, as any file system that is read-only would.
    denied: "0 succeeded",
  },
  copilot: {
    SIGINT: "0 interrupted exit",
    SIGTERM: "0 interrupted exit",
    SIGHUP: "0 interrupted exit",
    SIGKILL: "137 interrupted exit",
    "SIGTERM, the model hangs": "0 interrupted exit",
    // It has no limit of its own, so pawl ends it.
    "--turns": "0 interrupted limit_turns",
    denied: "0 succeeded denied_tools",
  },
};

/** Each program's own way to deny a command; Codex has none but its sandbox, in which its reviewer runs. */
const CONFIG = `agents:
  claude:
    args: [--disallowedTools, "Bash(mkdir:*)"]
  copilot:
    args: [--deny-tool, "shell(mkdir)"]
`;

let project: RunProject;
let model: ScriptedModel;
/** What the model says to the run of each task. */
const scripts = new Map<string, readonly Turn[]>();

beforeAll(async () => {
  project = makeRunProject("exit codes", await realPrograms(), CONFIG);
  model = await startModel(
    [0, 1, 2].map(
      (turn) =>
        ({ text }) =>
          scripts.get(taskIn(text))?.[turn] ?? { say: "Done." },
    ),
  );
  project.aimAt(model.url);
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await model?.close();
  project?.remove();
});

const taskIn = (text: string) => /(?:author of|You review) (T\d+)\./.exec(text)?.[1] ?? "";
const marker = (task: string) => join(project.path, ".worktrees", `mid-tool-of-${task}`);

async function begin(name: SupervisedName, row: Row): Promise<string> {
  const { shell } = dialects[name];
  const { json } = await project.pawl("task", "new", `${name} ${row}`, "--json");
  const task = json.data.task.id;
  const words: string[] = [];
  if (row === "--turns" || row === "--cost") {
    // Pawl looks once a second: who is to be ended by it must not be done before.
    const takes = name === "copilot" ? "sleep 3" : "true";
    scripts.set(task, Array(3).fill({ call: shell(takes), reads: 1_000_000 }));
    words.push(row, "1");
  } else if (row === "denied") {
    scripts.set(task, [{ call: shell("mkdir denied") }]);
    if (name === "codex") words.push("--role", "reviewer");
  } else if (row === "SIGTERM, the model hangs") scripts.set(task, [{ hangs: true }]);
  else scripts.set(task, [{ call: shell(`touch '${marker(task)}'; sleep 120`) }]);
  const started = await project.pawl("run", task, "--agent", name, ...words);
  expect(started.code, started.err).toBe(0);
  return `${task}/R1`;
}

/** To the program itself, as whoever looks for it by its name would send it; the guard and its tools get none. */
async function signalWhenBusy(run: string, row: Row): Promise<void> {
  const task = run.slice(0, run.indexOf("/"));
  const hangs = row === "SIGTERM, the model hangs";
  const isBusy = () =>
    hangs ? model.requests.some(({ text }) => taskIn(text) === task) : existsSync(marker(task));
  await project.waitFor(`${run} to be at work`, isBusy);
  const { path, spec } = project.attempt(run);
  const program = markedProcesses(spec.mark).find((one) => one.parent === readGuard(path));
  expect(send(program?.pid ?? 0, hangs ? "SIGTERM" : (row as Signal))).toBe(true);
}

async function endOf(run: string): Promise<string> {
  const { json } = await project.pawl("run", "wait", run, "--for", "60s", "--json");
  const { state, reason } = json.data.runs[0];
  expect(project.left(run), `processes left of ${run}`).toBe(0);
  return [readExit(project.attempt(run).path)?.code, state, reason]
    .filter((one) => one !== undefined)
    .join(" ");
}

test.each(Object.keys(TABLE) as SupervisedName[])(
  "%s: its exit codes, and how each run is recorded",
  async (name) => {
    const isSignal = (row: Row) => row.startsWith("SIG");
    const ended = await Promise.all(
      (Object.keys(TABLE[name]) as Row[]).map(async (row) => {
        const run = await begin(name, row);
        if (isSignal(row)) await signalWhenBusy(run, row);
        return [row, await endOf(run)];
      }),
    );
    expect(Object.fromEntries(ended)).toEqual(TABLE[name]);
  },
  180_000,
);
