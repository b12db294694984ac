import { execFileSync } from "node:child_process";
import { statOf } from "../files/proc.ts";
import { isMarked } from "./processes.ts";

/** The process that leads an agent, and what marks everything that it starts. */
export interface Guarded {
  run: string;
  guard: number;
  mark: string;
}

/** More than an agent's program, its shell and ours. */
const MOST_STEPS = 64;

/**
 * The run whose agent this process descends from, by the processes themselves: what a variable says can be said by
 * anybody. Nothing is found above a process that has left its family.
 */
export function findRunAround(
  guarded: readonly Guarded[],
  from = process.pid,
  parentOf = askParent,
  isTheirs = isMarked,
): string | undefined {
  for (let pid = from, steps = 0; pid > 1 && steps < MOST_STEPS; steps++, pid = parentOf(pid)) {
    // A pid may be somebody else's by now; the mark is not.
    const found = guarded.find((one) => one.guard === pid && isTheirs(pid, one.mark));
    if (found) return found.run;
  }
  return undefined;
}

function askParent(pid: number): number {
  const stat = statOf(`/proc/${pid}`);
  if (stat) return stat.parent;
  try {
    const said = execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number(said.trim());
  } catch {
    return 0;
  }
}
