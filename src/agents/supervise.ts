import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceQuickly } from "../files/durable.ts";
import { pause } from "../files/pause.ts";
import type { Environment } from "../model/environment.ts";
import type { RunReason } from "../model/records/attempt.ts";
import type { AgentProgress } from "../ports/agents.ts";
import {
  type AttemptSpec,
  files,
  isOpen,
  latestAttempt,
  modifiedAt,
  owners,
  putOnce,
  readExit,
  readGuard,
  readSpec,
  readStop,
  sizeOf,
} from "./attempt/folder.ts";
import { restoreAttempt } from "./attempt/restore.ts";
import { settleAttempt, takeOver, writeExit } from "./attempt/settle.ts";
import { NUDGE } from "./attempt/state.ts";
import { endProcesses, until } from "./end-processes.ts";
import GUARD from "./guard.sh";
import { reachedLimit } from "./limits.ts";
import { isMarked } from "./processes.ts";
import { programOf } from "./programs/all.ts";
import { StreamReader } from "./read-stream.ts";

const TICK_MS = 1_000;
/** A program that has said its last word and does not go is helped. */
const LINGER_MS = 30_000;
const LIMIT_GRACE_MS = 10_000;
/** What the guard answers when somebody gave the attempt up before it came. */
const FORBIDDEN = 97;

/**
 * Watches one attempt from its beginning to its end, or from where a dead supervisor left it. It keeps nothing in memory
 * that the folder does not have, so that it may be killed at any time; the store is written by the command it starts last.
 */
export async function supervise(path: string, env: Environment): Promise<void> {
  // From the first moment on: whoever sees the owner may send it, and unheard it would end this process.
  process.on(NUDGE, () => {});
  const spec = readSpec(path);
  if (!spec || !takeOver(path)) return;
  const isFirst = owners(path).length === 1;
  writeFileSync(join(path, files.beat), "");
  // The agent comes first, and who watches it misses nothing: what it says goes to a file.
  const guard = isFirst ? startGuard(path, spec, env) : undefined;
  const pid = guard?.pid ?? readGuard(path);
  const ending = guard ? untilItEnds(guard, path, spec) : waitForGuardToEnd(path, spec, pid);
  const watch = startWatch(path, spec, pid);
  const renewing = startRenewing(path, spec, env);
  await ending;
  watch.end();
  renewing.end();
  restoreAttempt(path, spec, pid);
  await settleAttempt(path, spec);
  await writeDown(path, spec, env);
}

/** Runs the agent behind its guard. Its stream goes to files, which outlive everybody. */
const startGuard = (path: string, spec: AttemptSpec, env: Environment) =>
  spawn("/bin/sh", ["-c", GUARD, "pawl-guard", path, ...spec.argv], {
    cwd: spec.cwd,
    env: { ...env, PAWL_ATTEMPT: spec.mark },
    stdio: "ignore",
    detached: true,
  });

async function untilItEnds(guard: ChildProcess, path: string, spec: AttemptSpec): Promise<void> {
  const code = await new Promise<number | null>((done) => {
    guard.on("error", () => done(null));
    guard.on("close", (status) => done(status));
  });
  if (code === FORBIDDEN || readExit(path)) return;
  if (!readSpec(path)) {
    restoreAttempt(path, spec, guard.pid ?? 0);
    if (code !== null) writeExit(path, { code, by: "supervisor" });
  }
  const began = readGuard(path) !== 0;
  // The agent of a guard that was killed must be gone before anybody says that it has ended.
  await endProcesses(spec, readGuard(path), 0);
  writeExit(path, { code: null, by: "supervisor", lost: began ? "guard_lost" : "never_started" });
}

/** Somebody else's child cannot be waited for, only looked at. */
async function waitForGuardToEnd(path: string, spec: AttemptSpec, guard: number): Promise<void> {
  while (!readExit(path) && isMarked(guard, spec.mark)) await pause(TICK_MS);
}

/** Beats, limits and requests; once a second, or when somebody sends the signal. */
function startWatch(path: string, spec: AttemptSpec, guard: number): { end(): void } {
  const reader = new StreamReader(path, spec, programOf(spec));
  let told = "";
  let ending = false;
  let verdictAt: number | undefined;
  let missed = 0;
  const tell = (progress: AgentProgress) => {
    const text = JSON.stringify(progress);
    if (text !== told) replaceQuickly(join(path, files.progress), text);
    told = text;
  };
  const ask = (reason: RunReason) => {
    const request = { reason, by: "pawl", at: new Date().toISOString(), graceMs: LIMIT_GRACE_MS };
    putOnce(join(path, files.stop), JSON.stringify(request));
  };
  /** Whoever removes the project is not disturbed; one look later, somebody has removed the folder alone. */
  const isGone = () => {
    missed = existsSync(join(path, files.spec)) ? 0 : missed + 1;
    if (missed > 1) restoreAttempt(path, spec, guard);
    const isOver = Date.now() - Date.parse(spec.begun) >= spec.limits.timeMs;
    if (missed > 1 && isOver && !ending) {
      ending = true;
      void endProcesses(spec, guard, LIMIT_GRACE_MS);
    }
    return missed > 0;
  };
  const look = () => {
    if (isGone()) return;
    beat(join(path, files.beat));
    const progress = reader.look();
    tell(progress);
    if (ending || readExit(path)) return;
    const reached = progress.hopeless ?? reachedLimit(spec, spentOf(path, spec, progress));
    if (progress.verdict && verdictAt === undefined) verdictAt = Date.now();
    if (verdictAt !== undefined && Date.now() - verdictAt > LINGER_MS) {
      ending = true;
      // What it said counts; what ends it now is us.
      writeExit(path, { code: null, by: "supervisor" });
      void endProcesses(spec, readGuard(path), LIMIT_GRACE_MS);
      return;
    }
    if (reached && !progress.verdict) ask(reached);
    const request = readStop(path);
    if (!request) return;
    ending = true;
    void endProcesses(spec, readGuard(path), request.graceMs);
  };
  const safely = () => {
    try {
      look();
    } catch {
      // A full disk or a folder that was removed must not end the supervision.
    }
  };
  const timer = setInterval(safely, TICK_MS);
  process.on(NUDGE, safely);
  return {
    end() {
      clearInterval(timer);
      process.off(NUDGE, safely);
      try {
        tell(reader.look(true));
      } catch {
        // Whoever writes the end down reads the stream again.
      }
    },
  };
}

function spentOf(path: string, spec: AttemptSpec, progress: AgentProgress) {
  const out = join(path, files.out);
  const began = Date.parse(spec.begun);
  return {
    elapsedMs: Date.now() - began,
    silentMs: Date.now() - (modifiedAt(out) ?? began),
    logBytes: sizeOf(out) + sizeOf(join(path, files.err)),
    progress,
  };
}

function beat(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

/** An agent may end while the command that started it still holds the task; together these are half a minute. */
const AGAIN_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000];

/**
 * The end is written down by an ordinary command, as any later one would; this one only comes first. The supervisor stays
 * until it has, so that whoever finds no supervisor knows that nothing of this attempt is written any more.
 */
async function writeDown(path: string, spec: AttemptSpec, env: Environment): Promise<void> {
  const runs = dirname(dirname(path));
  // Also when somebody else did it, who waits for this process to go; a later attempt has a supervisor of its own.
  const isDone = () => !isOpen(runs, spec.run) || latestAttempt(runs, spec.run)?.number !== spec.number;
  await runCommand(path, spec, env, spec.settle.argv);
  for (const pause of AGAIN_MS) {
    if (await until(isDone, pause)) break;
    await runCommand(path, spec, env, spec.settle.argv);
  }
  if (spec.renew) await runCommand(path, spec, env, spec.renew.argv);
}

/** Others see that the task is still worked on; one that takes long is not started twice. */
function startRenewing(path: string, spec: AttemptSpec, env: Environment): { end(): void } {
  const { renew } = spec;
  if (!renew) return { end() {} };
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await runCommand(path, spec, env, renew.argv).catch(() => {});
    isRunning = false;
  }, renew.everyMs);
  return { end: () => clearInterval(timer) };
}

/** One of pawl's own, outside of the run; what it says goes to the supervisor's log. */
async function runCommand(
  path: string,
  spec: AttemptSpec,
  env: Environment,
  argv: readonly string[],
): Promise<void> {
  const [command = "", ...args] = argv;
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("PAWL_"));
  const log = openSync(join(path, files.log), "a", 0o600);
  try {
    const child = spawn(command, args, {
      cwd: spec.settle.cwd,
      env: Object.fromEntries(kept),
      stdio: ["ignore", log, log],
      detached: true,
    });
    await new Promise<void>((done) => {
      child.on("error", () => done());
      child.on("close", () => done());
    });
  } finally {
    closeSync(log);
  }
}
