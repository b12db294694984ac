import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:os";
import type { CheckRun } from "../core/ports.ts";

interface CheckPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  progress(chunk: Buffer): void;
}

const TAIL_BYTES = 4_000;
/** What a shell says when there is no such command, or when it may not be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs a check, shows its output as it comes, and keeps what proves it: exit code, time, digest and the last lines. */
export function runCheck(argv: readonly string[], place: CheckPlace): Promise<CheckRun> {
  const [command = "", ...args] = argv;
  const started = process.hrtime.bigint();
  const digest = createHash("sha256");
  let bytes = 0;
  let tail = Buffer.alloc(0);
  const keep = (chunk: Buffer) => {
    digest.update(chunk);
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    place.progress(chunk);
  };
  return new Promise((done) => {
    let settled = false;
    const finish = (exitCode: number) => {
      // A command that cannot be started reports an error and then closes as well.
      if (settled) return;
      settled = true;
      for (const signal of FORWARDED) process.off(signal, forward);
      done({
        argv: [...argv],
        exitCode,
        durationMs: Math.round(Number(process.hrtime.bigint() - started) / 1e6),
        outputSha256: digest.digest("hex"),
        outputBytes: bytes,
        tail: readable(tail, bytes),
      });
    };
    const child = spawn(command, args, { cwd: place.cwd, env: place.env, stdio: ["ignore", "pipe", "pipe"] });
    // The terminal sends Ctrl-C to both of us; we stay to write down how the check ended.
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error: NodeJS.ErrnoException) => {
      keep(Buffer.from(`${error.message}\n`));
      finish(error.code === "EACCES" ? NOT_EXECUTABLE : NOT_FOUND);
    });
    child.on("close", (code, signal) => {
      finish(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0));
    });
  });
}

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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
