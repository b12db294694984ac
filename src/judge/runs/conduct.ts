import type { RunStatus } from "../../model/records/attempt.ts";

/** One of a conductor's tasks, as the records show it. */
export interface ConductedTask {
  task: string;
  /** The run that this conductor started for it, and how it stands. */
  run: { id: string; status: RunStatus } | undefined;
  /** Why it could not be started. */
  refused: string | undefined;
}

export interface NextLaunches {
  launch: string[];
  done: boolean;
}

const AT_WORK: readonly RunStatus[] = ["starting", "running"];

/** Which tasks to start now without exceeding `atOnce`; each is started only once. */
export function nextLaunches(tasks: readonly ConductedTask[], atOnce: number): NextLaunches {
  const working = tasks.filter((one) => one.run && AT_WORK.includes(one.run.status));
  const waiting = tasks.filter((one) => !one.run && one.refused === undefined);
  return {
    launch: waiting.slice(0, Math.max(0, atOnce - working.length)).map((one) => one.task),
    done: working.length === 0 && waiting.length === 0,
  };
}

export const allWell = (tasks: readonly ConductedTask[]) =>
  tasks.every((one) => one.run?.status === "succeeded");
