import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

/** The real program, as one that a test can start in processes of its own. */
export function bundlePawl(folder: string): Promise<string> {
  return bundleProgram(fileURLToPath(new URL("../../src/cli/program.ts", import.meta.url)), folder, "pawl");
}

export interface Typed {
  code: number | null;
  /** Everything that the terminal showed, both outputs and what was typed. */
  out: string;
}

/** What a question of ours ends with: only then is anything typed, as a person would. */
const QUESTION = /Type [^\n]+: $/;
const PATIENCE_MS = 60_000;

/**
 * Runs pawl on a terminal of its own and types `typed` when it is asked something. The environment is the
 * repository's scrubbed one: no agent is recognised in it.
 */
export function onTerminal(
  program: string,
  repository: TemporaryRepository,
  argv: readonly string[],
  typed: string,
  /** Something that happens while the human reads and thinks. */
  meanwhile: () => void | Promise<void> = () => {},
  /** What ssh asks for after that, and gets. */
  passphrase?: string,
): Promise<Typed> {
  const [command, args] = terminalFor([process.execPath, program, ...argv]);
  const child = spawn(command, args, {
    cwd: repository.path,
    env: { ...repository.env, TERM: "dumb", SHELL: "/bin/sh", NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new Promise((done, fail) => {
    let out = "";
    let asked = false;
    let told = false;
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const hear = async (chunk: Buffer) => {
      out += chunk.toString("utf8").replaceAll("\r", "");
      if (passphrase !== undefined && !told && /Enter passphrase[^\n]*: $/.test(out)) {
        told = true;
        child.stdin.write(`${passphrase}\n`);
      }
      if (asked || !QUESTION.test(out)) return;
      asked = true;
      await meanwhile();
      child.stdin.write(`${typed}\n`);
    };
    child.stdin.on("error", () => {});
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", fail);
    child.on("close", (code) => {
      clearTimeout(timer);
      done({ code, out });
    });
  });
}

/**
 * Runs a command on a terminal of its own and answers its questions one after the other, each when it is asked. What
 * comes after the last answer is only listened to.
 */
export function inDialogue(
  words: readonly string[],
  { path: cwd, env }: TemporaryRepository,
  answers: readonly [question: RegExp, typed: string][],
): Promise<Typed> {
  const [command, args] = terminalFor(words);
  const child = spawn(command, args, {
    cwd,
    env: { ...env, TERM: "dumb", SHELL: "/bin/sh", NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = [...answers];
  return new Promise((done, fail) => {
    let [out, heard] = ["", 0];
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const hear = (chunk: Buffer) => {
      out += chunk.toString("utf8").replaceAll("\r", "");
      const [question, typed] = waiting[0] ?? [];
      if (!question?.test(out.slice(heard))) return;
      heard = out.length;
      waiting.shift();
      child.stdin.write(typed ?? "");
    };
    child.stdin.on("error", () => {});
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", fail);
    child.on("close", (code) => {
      clearTimeout(timer);
      done({ code, out });
    });
  });
}

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux");

const PYTHON = [
  "import os, pty, sys",
  "status = pty.spawn(sys.argv[1:])",
  "sys.exit(os.waitstatus_to_exitcode(status))",
].join("\n");

/** How this machine runs a command on a terminal of its own. */
export function terminalFor(words: readonly string[]): [string, string[]] {
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return hasScript ? ["script", ["-qec", line, "/dev/null"]] : ["python3", ["-c", PYTHON, ...words]];
}
