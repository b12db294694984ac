import { createRequire } from "node:module";
import { hasEnded, procText, statOf } from "../files/proc.ts";
import { namesIfReadable } from "../files/read.ts";

/** A process that carries the mark of an attempt, by which it is known whatever session or group it made its own. */
export interface MarkedProcess {
  pid: number;
  parent: number;
}

type ChildProcess = typeof import("node:child_process");

const MARK = "PAWL_ATTEMPT=";

/** Every living process of an attempt. Only these are ever sent a signal: a pid alone may be anybody's by now. */
export function markedProcesses(mark: string): MarkedProcess[] {
  const pids = namesIfReadable("/proc").filter((name) => /^\d+$/.test(name));
  return pids.length === 0 ? markedByPs(mark) : pids.flatMap((pid) => look(Number(pid), mark) ?? []);
}

export const isMarked = (pid: number, mark: string) =>
  pid > 1 && markedProcesses(mark).some((one) => one.pid === pid);

function look(pid: number, mark: string): MarkedProcess | undefined {
  if (pid === process.pid || !procText(`/proc/${pid}/environ`)?.includes(`${MARK}${mark}\0`))
    return undefined;
  const stat = statOf(`/proc/${pid}`);
  return stat && !hasEnded(stat) ? { pid, parent: stat.parent } : undefined;
}

/** Systems without /proc show the environment of one's own processes behind their command lines. */
function markedByPs(mark: string): MarkedProcess[] {
  let listed: string;
  try {
    // Loaded here, because wherever there is a /proc a list of runs has no other use for it, and would take a third longer.
    const { execFileSync } = createRequire(import.meta.url)("node:child_process") as ChildProcess;
    listed = execFileSync("ps", ["-axEww", "-o", "pid=,ppid=,stat=,command="], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return [];
  }
  return listed.split("\n").flatMap((line) => {
    const [, pid, parent, state = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? [];
    const isOurs = line.includes(`${MARK}${mark}`) && !state.startsWith("Z");
    return isOurs && Number(pid) !== process.pid ? [{ pid: Number(pid), parent: Number(parent) }] : [];
  });
}

/** False when it is gone. */
export function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
