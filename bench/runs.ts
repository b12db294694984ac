import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cleanEnv,
  LAUNCHER,
  makeProject,
  median,
  printRows,
  type Row,
  run,
  startTask,
} from "./helpers/measured-project.ts";

/** What a run costs beyond its agent: until the agent's process is there, to look at many, and while it works. */
const ROUNDS = Number(process.argv[2] ?? 11);
const RUNS = 100;
const WATCHED_MS = 10_000;
const MOST = { start: 4, list: 2, megabytes: 40, processorSeconds: 0.05 };
/** The kernel counts a process's time in these. */
const TICKS_PER_SECOND = 100;

const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);
const repo = join(folder, "runs");
const state = join(repo, ".pawl", "state");
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** An agent that says nothing but when it is there, in milliseconds since 1970. */
function writeProject(): void {
  const agents = "agents:\n  quick:\n    command: [date, +%s%3N]\n  slow:\n    command: [sleep, '600']\n";
  mkdirSync(join(repo, ".pawl"));
  writeFileSync(join(repo, ".pawl", "config.yaml"), `profile: light\n${agents}`);
}

function newTask(title: string): string {
  const made = run([...LAUNCHER, "task", "new", title, "--json"], repo, env);
  return JSON.parse(made.out).data.task.id;
}

/** From the moment a person presses Enter until the agent's own process runs; its worktree was there before. */
function startOnce(task: string): number {
  const pressed = Date.now();
  const started = run([...LAUNCHER, "run", task, "--agent", "quick", "--json"], repo, env);
  const { id } = JSON.parse(started.out).data.runs[0];
  run([...LAUNCHER, "run", "wait", id], repo, env);
  return (
    Number(readFileSync(join(repo, ".git", "pawl", "runs", id.replace("/", "."), "a1", "out"), "utf8")) -
    pressed
  );
}

/** The record of one real run, under many names: a hundred agents would measure the agents. */
function copyRuns(task: string): void {
  const runs = join(state, "tasks", task, "runs");
  for (let nth = 2; nth <= RUNS; nth++) {
    cpSync(join(runs, "R1"), join(runs, `R${nth}`), { recursive: true });
    const file = join(runs, `R${nth}`, "run.md");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(`${task}/R1`, `${task}/R${nth}`));
  }
}

function measureStarts(): Row[] {
  const task = newTask("Start");
  startTask(repo, env, task);
  startOnce(task);
  const [floor, took]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(run([process.execPath, "-e", "0"], repo, env).ms);
    took.push(startOnce(task));
  }
  const ratio = median(took) / median(floor);
  return [
    { what: "pawl run until the agent's process exists", ms: median(took), ratio, most: MOST.start },
    { what: "node -e 0", ms: median(floor), ratio: 1 },
  ];
}

function measureLists(): Row[] {
  const task = newTask("List");
  run([...LAUNCHER, "run", task, "--agent", "quick"], repo, env);
  run([...LAUNCHER, "run", "wait", task], repo, env);
  copyRuns(task);
  const commands = [
    ["run", "list"],
    ["run", "list", "--all"],
  ];
  for (const one of commands) run([...LAUNCHER, ...one], repo, env);
  pause(2_200);
  const floor: number[] = [];
  const took = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(run([process.execPath, "-e", "0"], repo, env).ms);
    for (const [nth, one] of commands.entries()) took[nth]?.push(run([...LAUNCHER, ...one], repo, env).ms);
  }
  return commands.map((one, nth) => {
    const ms = median(took[nth] ?? []);
    return { what: `${one.join(" ")}, ${RUNS} runs`, ms, ratio: ms / median(floor), most: MOST.list };
  });
}

const own = (pid: number) =>
  ["Private_Clean", "Private_Dirty"]
    .map(
      (name) =>
        Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(procText(pid, "smaps_rollup"))?.[1]) / 1024,
    )
    .reduce((sum, one) => sum + one, 0);
const procText = (pid: number, file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
const megabytes = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(procText(pid, "status"))?.[1]) / 1024;
function ticks(pid: number): number {
  const stat = procText(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** What a Node process takes that does nothing at all: below this nobody gets. */
function idleNode(): Promise<number> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], { env, stdio: "ignore" });
  return new Promise((done) =>
    setTimeout(() => {
      const found = megabytes(child.pid ?? 0);
      child.kill();
      done(found);
    }, 1_000),
  );
}

async function tellSupervisor(): Promise<boolean> {
  const task = newTask("Wait");
  run([...LAUNCHER, "run", task, "--agent", "slow"], repo, env);
  const attempt = join(repo, ".git", "pawl", "runs", `${task}.R1`, "a1");
  const pid = Number(readFileSync(join(attempt, "owner"), "utf8").split(".")[2]);
  pause(3_000);
  const before = ticks(pid);
  pause(WATCHED_MS);
  const [memory, itsOwn] = [megabytes(pid), own(pid)];
  const seconds = (ticks(pid) - before) / TICKS_PER_SECOND;
  run([...LAUNCHER, "run", "stop", task, "--grace", "0s"], repo, env);
  const verdict = (isMet: boolean) => (isMet ? "ok" : "MISSED");
  const small = memory <= MOST.megabytes;
  const quiet = seconds <= MOST.processorSeconds;
  const node = (await idleNode()).toFixed(0);
  console.log(
    `supervisor, waiting: memory  ${memory.toFixed(0)} MB, of which ${itsOwn.toFixed(0)} MB its own (an idle Node: ${node} MB)  ≤ ${MOST.megabytes} MB  ${verdict(small)}`,
  );
  console.log(
    `supervisor, waiting: processor time in ${WATCHED_MS / 1_000} s  ${seconds.toFixed(2)} s  ≤ ${MOST.processorSeconds} s  ${verdict(quiet)}`,
  );
  return small && quiet;
}

try {
  makeProject(repo, env, writeProject);
  const met = printRows([...measureStarts(), ...measureLists()]);
  const small = await tellSupervisor();
  console.log(`medians of ${ROUNDS} interleaved rounds, Node ${process.version}`);
  process.exitCode = met && small ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
