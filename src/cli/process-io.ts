import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { findAgentsAbove } from "../files/agent-above.ts";
import { pause } from "../files/pause.ts";
import { nullDevice } from "../files/read.ts";
import { readInput, writeWhole } from "../files/standard-streams.ts";
import { Failure, stoppedByHuman } from "../model/failure.ts";
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
    outSize,
    outIsGone: () => outGone,
    outIsPipe: () => fstatSync(1).isFIFO(),
    atTerminal,
    ask,
    readText,
    serves() {
      serving = true;
    },
    agentsAbove: (isGuard) => findAgentsAbove(process.ppid, isGuard),
  };
}

const bytesOf = (text: string | Buffer) => (typeof text === "string" ? Buffer.from(text, "utf8") : text);

/** node:tty brings the network stack with it; a pipe, a file or the null device can be told from a terminal without. */
function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || stat.rdev === nullDevice()) return false;
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

/** A reader that went away is no error. */
function write(fd: number, data: Buffer): void {
  try {
    writeWhole(fd, data);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE" && code !== "EBADF") outputFailed ??= code ?? String(error);
    else if (fd === 1) outGone = true;
  }
}

let outGone = false;
let serving = false;

/** Whether this process may have something to finish after its command has ended. */
export const isServing = () => serving;

/** Only what is shown until something ends asks for it: opening the stream takes milliseconds. */
function outSize(): { columns: number; rows: number } | undefined {
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { columns, rows } : undefined;
}

let outputFailed: string | undefined;

/** Why the answer could not be written out whole, if it could not. */
export const failedOutput = () => outputFailed;

const atTerminal = () => isTerminal(0) && isTerminal(2);

/**
 * Only a terminal may answer: what comes through a pipe was typed by nobody. An empty question has an empty answer.
 * It is read without blocking, because only a process that is not blocked hears Ctrl-C and can say what it leaves behind.
 */
async function ask(question: string): Promise<string | undefined> {
  if (!atTerminal()) return undefined;
  if (question === "") return "";
  const own = openTerminal();
  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  if (own !== undefined) process.on("SIGINT", stop);
  write(2, Buffer.from(question, "utf8"));
  if (own === undefined) return readLine(0, () => false);
  try {
    return await readLine(own, () => stopped);
  } finally {
    closeSync(own);
    process.off("SIGINT", stop);
  }
}

/** Our own way to the terminal: it does not block, and the shell's, which others share, stays as it is. */
function openTerminal(): number | undefined {
  try {
    return openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

async function readLine(fd: number, isStopped: () => boolean): Promise<string | undefined> {
  const bytes: number[] = [];
  const one = Buffer.alloc(1);
  for (;;)
    try {
      if (readSync(fd, one) === 0) return answered(bytes, true);
      if (one[0] === NEWLINE) {
        // A Ctrl-C before this line is heard when the loop next waits, which it does before any timer.
        await pause(LISTENING_MS);
        if (isStopped()) throw stoppedAtQuestion();
        return answered(bytes, false);
      }
      bytes.push(one[0] ?? 0);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return answered(bytes, true);
      if (code !== "EAGAIN") throw error;
      await pause(LISTENING_MS);
      if (isStopped()) throw stoppedAtQuestion();
    }
}

function stoppedAtQuestion() {
  write(2, LINE_END);
  return stoppedByHuman("nothing was changed.");
}

/** Whoever closes the terminal's input has answered nothing, not even with Enter, and the cursor still stands at the question. */
function answered(bytes: readonly number[], isClosed: boolean): string | undefined {
  if (isClosed) write(2, LINE_END);
  return isClosed && bytes.length === 0 ? undefined : Buffer.from(bytes).toString("utf8").trim();
}

const LINE_END = Buffer.from("\n");
const LISTENING_MS = 20;
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

/** Far more than any record takes; whatever has more was not meant, or never ends. */
const MOST_BYTES = 10_000_000;

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder, not a file",
  EACCES: "may not be read by you",
};

function readWithin(path: string, most: number): Buffer {
  const file = openSync(path, "r");
  try {
    return readInput(file, most);
  } finally {
    closeSync(file);
  }
}

function readText(path: string): string {
  const shown = path === "-" ? "standard input" : `"${path}"`;
  let bytes: Buffer;
  try {
    bytes = path === "-" ? readInput(0, MOST_BYTES) : readWithin(path, MOST_BYTES);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const why = UNREADABLE[code] ?? `cannot be read (${code})`;
    throw new Failure(code === "ENOENT" ? "not_found" : "usage", "no_file", `${shown} ${why}.`, {
      details: { file: path },
      cause: error,
    });
  }
  if (bytes.length > MOST_BYTES)
    throw new Failure(
      "usage",
      "file_too_large",
      `${shown} has more than 10 MB, which is no text for a record.`,
      {
        details: { file: path },
      },
    );
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes))
    throw new Failure("usage", "not_text", `${shown} is not UTF-8 text.`, { details: { file: path } });
  return text;
}
