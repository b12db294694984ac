import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:os";
import { environmentForChecks } from "../files/check-environment.ts";
import { findProgram } from "../files/find-program.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { commandLine, firstLine } from "../model/text.ts";
import { waitingLine } from "../model/waiting.ts";
import type { CheckRun } from "../ports/ports.ts";
import { programsOf } from "./check-programs.ts";

interface CheckPlace {
  cwd: string;
  /** The caller's; a check gets little of it. */
  env: Environment;
  /** The clone's own folder, which has the kept environment. */
  local: string;
  /** What the policy adds. */
  policy: Readonly<Record<string, string>>;
  progress(chunk: Buffer): void;
  /** Where one process serves many calls, this stops the check of one of them. */
  signal?: AbortSignal | undefined;
}

const TAIL_BYTES = 4_000;
/** What a shell says when there is no such command, or when it may not be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs a check, shows its output as it comes, and keeps what proves it: exit code, time, digest and the last lines. */
export async function runCheck(argv: readonly string[], around: CheckPlace): Promise<CheckRun> {
  const { variables, kept } = environmentForChecks(around.local, around.env, around.policy);
  const place = { ...around, env: variables };
  const programs = programsOf(argv, place.cwd, variables.PATH);
  const started = process.hrtime.bigint();
  const digest = createHash("sha256");
  let bytes = 0;
  let tail = Buffer.alloc(0);
  const silence = tellSilence(argv, place.progress);
  const keep = (chunk: Buffer) => {
    silence.heard(chunk);
    digest.update(chunk);
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    place.progress(chunk);
  };
  const { code, signal } = await watch(argv, place, keep).finally(silence.stop);
  return {
    argv: [...argv],
    signal: signal ?? undefined,
    exitCode: code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0),
    durationMs: Math.round(Number(process.hrtime.bigint() - started) / 1e6),
    outputSha256: digest.digest("hex"),
    outputBytes: bytes,
    tail: readable(tail, bytes),
    programs: programs.map(({ path, sha256 }) => ({ path, sha256 })),
    environment: kept ? "kept" : "caller",
    elsewhere: programs.flatMap(({ name, path }) => {
      const here = findProgram(name, place.cwd, around.env.PATH);
      return here === undefined || here === path ? [] : [{ name, used: path, here }];
    }),
  };
}

const SILENT_SECONDS = 5;

/** npm and others say nothing for minutes where there is no terminal; whoever waits is told that it goes on. */
function tellSilence(argv: readonly string[], progress: (chunk: Buffer) => void) {
  const begun = Date.now();
  let [last, lineEnded] = [begun, true];
  const tell = () => {
    const now = Date.now();
    if (!lineEnded || now - last < SILENT_SECONDS * 1000) return;
    const seconds = Math.round((now - begun) / 1000);
    progress(
      Buffer.from(`${waitingLine(`still running ${firstLine(commandLine(argv), 60)}`, seconds, "")}\n`),
    );
  };
  const timer = setInterval(tell, 1000);
  timer.unref();
  return {
    heard(chunk: Buffer) {
      last = Date.now();
      lineEnded = chunk.at(-1) === NEWLINE;
    },
    stop: () => clearInterval(timer),
  };
}

const NEWLINE = 10;

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** A process that the check left in the background may hold its pipes open for ever; what it says later is not awaited. */
const LAST_WORDS_MS = 500;

function watch(argv: readonly string[], place: CheckPlace, keep: (chunk: Buffer) => void): Promise<Ending> {
  const [command = "", ...args] = argv;
  return new Promise((done, fail) => {
    let interrupted: NodeJS.Signals | undefined;
    let settled = false;
    let child: ReturnType<typeof start>;
    const finish = (ending: Ending) => {
      if (settled) return;
      settled = true;
      for (const signal of FORWARDED) process.off(signal, forward);
      place.signal?.removeEventListener("abort", cancel);
      child?.stdout.destroy();
      child?.stderr.destroy();
      // What it left in the background would go on while a human reads its result.
      if (child) killGroup(child, "SIGKILL");
      if (interrupted) fail(stopped(interrupted));
      else if (place.signal?.aborted) fail(stopped("the caller"));
      else done(ending);
    };
    const cannotStart = (error: NodeJS.ErrnoException) => {
      keep(Buffer.from(`${error.message}\n`));
      finish({ code: error.code === "EACCES" ? NOT_EXECUTABLE : NOT_FOUND, signal: null });
    };
    // The terminal reaches only us; we pass it on, and stay until the check has ended.
    const forward = (signal: NodeJS.Signals) => {
      interrupted = signal;
      if (child) killGroup(child, signal);
    };
    const cancel = () => child && endGroup(child);
    if (place.signal?.aborted) return fail(stopped("the caller"));
    child = start(command, args, place, cannotStart);
    if (!child) return;
    // A process that serves many calls hears such signals itself, and stops all of them.
    if (place.signal) place.signal.addEventListener("abort", cancel);
    else for (const signal of FORWARDED) process.on(signal, forward);
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", cannotStart);
    child.on("close", (code, signal) => finish({ code, signal }));
    child.on("exit", (code, signal) => setTimeout(() => finish({ code, signal }), LAST_WORDS_MS).unref());
  });
}

/** Some commands cannot even be tried, such as an empty one; that is the same as not being found. */
function start(
  command: string,
  args: string[],
  place: CheckPlace,
  cannotStart: (error: NodeJS.ErrnoException) => void,
) {
  try {
    return spawn(command, args, {
      cwd: place.cwd,
      env: place.env,
      stdio: ["ignore", "pipe", "pipe"],
      // A session of its own has no terminal: a check can neither ask a human nor answer for one.
      detached: process.platform !== "win32",
    });
  } catch (error) {
    cannotStart(error as NodeJS.ErrnoException);
    return undefined;
  }
}

/** How long a check that was asked to stop may take to clean up. */
const GRACE_MS = 1_000;

/** A check leads a group, so that what it started is reached with it. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // Nothing of it is left.
  }
}

function endGroup(child: ChildProcess): void {
  killGroup(child, "SIGTERM");
  setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS);
}

function stopped(signal: string): Failure {
  return new Failure("refused", "interrupted", `Stopped by ${signal}; nothing was recorded.`);
}

const ESCAPE_CODES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

/** Text for a Markdown record: no half characters at the cut, no escape codes, no control characters. */
function readable(tail: Buffer, total: number): string {
  const text = tail.toString("utf8").replace(total > tail.length ? /^[^\n]*\n/ : /^/, "");
  return text
    .replace(ESCAPE_CODES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t\P{Cc}]/gu, "")
    .replace(/\uFFFD+/g, "")
    .trim();
}
