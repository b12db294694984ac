import { spawn } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../files/pause.ts";
import { step } from "../model/steps.ts";
import type { AttemptSpec } from "./attempt/folder.ts";
import { type MarkedProcess, markedProcesses, send } from "./processes.ts";

const LOOK_MS = 25;
/** A process that a kill does not end within this time hangs in the kernel; nobody can do more. */
const KILL_MS = 5_000;
/** How long the guard may take to write down what it has just learned. */
const GUARD_MS = 1_000;

/**
 * Ends everything that belongs to an attempt: the agent is asked first, so that its transcript stays whole; then all are
 * told, then killed. Tools live in sessions of their own, where no signal to a group reaches them. The guard goes last,
 * because it knows how the agent ended. Returns how many had to be killed.
 */
export async function endProcesses(
  spec: Pick<AttemptSpec, "mark" | "stopCommand" | "cwd">,
  guard: number,
  graceMs: number,
): Promise<number> {
  const others = () => markedProcesses(spec.mark).filter((one) => one.pid !== guard);
  // The programs with which the guard writes down the end come after the agent's, and must not be taken for its own.
  const haveEnded = async (ms: number) => {
    if (await until(() => others().length === 0, ms))
      await until(() => markedProcesses(spec.mark).length === 0, GUARD_MS);
  };
  if (graceMs > 0 && others().length > 0) {
    step("stop interrupt");
    for (const one of others().filter((each) => each.parent === guard)) send(one.pid, "SIGINT");
    await haveEnded(graceMs / 2);
  }
  // Also where nobody is left to be seen: what a container does is not known by its client's end.
  if (spec.stopCommand) await outside(spec.stopCommand, spec.cwd);
  if (others().length > 0) {
    step("stop terminate");
    for (const one of others()) send(one.pid, "SIGTERM");
    await haveEnded(graceMs / 2);
  }
  const killed = await killAll(others);
  await until(() => markedProcesses(spec.mark).length === 0, GUARD_MS);
  return killed + (await killAll(() => markedProcesses(spec.mark)));
}

async function killAll(left: () => MarkedProcess[]): Promise<number> {
  const killed = new Set<number>();
  for (const started = Date.now(); Date.now() - started < KILL_MS; await pause(10)) {
    const all = left();
    if (all.length === 0) break;
    for (const { pid } of all) if (send(pid, "SIGKILL")) killed.add(pid);
  }
  return killed.size;
}

export async function until(isSo: () => boolean, ms: number): Promise<boolean> {
  for (const started = Date.now(); ; await pause(LOOK_MS)) {
    if (isSo()) return true;
    if (Date.now() - started >= ms) return false;
  }
}

/** What the runner put out of our sight, such as a container, is ended by the project's own command. */
function outside([command = "", ...args]: readonly string[], cwd: string): Promise<void> {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd, stdio: "ignore", timeout: KILL_MS });
    child.on("error", () => done());
    child.on("close", () => done());
  });
}

const CLOCK_SLACK_MS = 1_000;

/**
 * A git that was killed leaves its index locked, and then nobody can commit there. Only once nothing of the attempt
 * lives, and only a lock that came after it began and that nobody lets go of.
 */
export async function dropIndexLocks(spec: AttemptSpec): Promise<void> {
  const since = Date.parse(spec.begun) - CLOCK_SLACK_MS;
  const seen = (path: string) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && stat.mtimeMs >= since ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : undefined;
  };
  const locks = spec.gitDirs.map((folder) => join(folder, "index.lock")).filter((path) => existsSync(path));
  const suspects = locks.map((path) => ({ path, was: seen(path) })).filter(({ was }) => was !== undefined);
  if (suspects.length === 0 || markedProcesses(spec.mark).length > 0) return;
  await pause(CLOCK_SLACK_MS);
  for (const { path, was } of suspects) {
    step("index lock");
    if (seen(path) === was) rmSync(path, { force: true });
  }
}
