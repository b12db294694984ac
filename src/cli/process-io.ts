import { fstatSync, readFileSync, readSync, statSync } from "node:fs";
import { findAgentsAbove } from "../files/agent-above.ts";
import { readInput, writeWhole } from "../files/standard-streams.ts";
import { Failure } from "../model/failure.ts";
import type { Io } from "./main.ts";

/** The real process. It writes with `writeSync`, because opening `process.stdout` alone costs several milliseconds. */
export function processIo(): Io {
  return {
    get cwd() {
      return currentFolder();
    },
    env: process.env,
    out: (text) => write(1, bytesOf(text)),
    err: (text) => write(2, bytesOf(text)),
    outIsTerminal: () => isTerminal(1),
    errIsTerminal: () => isTerminal(2),
    atTerminal,
    ask,
    readText,
    agentsAbove: (isGuard) => findAgentsAbove(process.ppid, isGuard),
  };
}

const devNull = "/dev/null";

const bytesOf = (text: string | Buffer) => (typeof text === "string" ? Buffer.from(text, "utf8") : text);

/** node:tty brings the network stack with it; a pipe, a file or the null device can be told from a terminal without. */
function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || stat.rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev)
      return false;
  } catch {
    return false;
  }
  return loadTty().isatty(fd);
}

/** Only Node 20.16 and newer have the first way; node:module, the usual one, costs every command a millisecond. */
function loadTty(): typeof import("node:tty") {
  const { getBuiltinModule, mainModule } = process as Partial<NodeJS.Process>;
  return getBuiltinModule?.("node:tty") ?? mainModule?.require("node:tty");
}

const waiting = new Int32Array(new SharedArrayBuffer(4));

/** A reader that went away is no error. */
function write(fd: number, data: Buffer): void {
  try {
    writeWhole(fd, data);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE" && code !== "EBADF") outputFailed ??= code ?? String(error);
  }
}

let outputFailed: string | undefined;

/** Why the answer could not be written out whole, if it could not. */
export const failedOutput = () => outputFailed;

const atTerminal = () => isTerminal(0) && isTerminal(2);

/** Only a terminal may answer: what comes through a pipe was typed by nobody. An empty question has an empty answer. */
function ask(question: string): string | undefined {
  if (!atTerminal()) return undefined;
  if (question === "") return "";
  write(2, Buffer.from(question, "utf8"));
  const bytes: number[] = [];
  const one = Buffer.alloc(1);
  for (;;)
    try {
      const isOver = readSync(0, one) === 0;
      // Whoever closes the terminal's input has answered nothing, not even with Enter.
      if (isOver && bytes.length === 0) return undefined;
      if (isOver || one[0] === NEWLINE) return Buffer.from(bytes).toString("utf8").trim();
      bytes.push(one[0] ?? 0);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return bytes.length === 0 ? undefined : Buffer.from(bytes).toString("utf8").trim();
      if (code !== "EAGAIN") throw error;
      Atomics.wait(waiting, 0, 0, 20);
    }
}

const NEWLINE = 10;

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new Failure("not_found", "no_folder", "The current folder no longer exists.", {
      hint: "cd to one that does.",
      cause,
    });
  }
}

function readText(path: string): string {
  const shown = path === "-" ? "standard input" : `"${path}"`;
  let bytes: Buffer;
  try {
    bytes = path === "-" ? readInput() : readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      code === "ENOENT" ? "not_found" : "usage",
      "no_file",
      `${shown} cannot be read (${code}).`,
      {
        details: { file: path },
        cause: error,
      },
    );
  }
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes))
    throw new Failure("usage", "not_text", `${shown} is not UTF-8 text.`, { details: { file: path } });
  return text;
}
