import { taskOf } from "./ids.ts";
import type { Message } from "./records/parts.ts";

/** Who reads: somebody at work on a task, in this run of it. */
export interface Reading {
  task: string;
  run: string | undefined;
}

export type Addressed = Pick<Message, "to" | "run">;

/** Mail to one run is for no other; mail about a run of the same task is not for the one that comes after it. */
export function isFor({ to, run }: Addressed, reading: Reading): boolean {
  if (to === "human") return false;
  if (/\/R\d+$/.test(to)) return to === reading.run;
  const isAbout = run?.startsWith(`${reading.task}/`) ?? false;
  return taskOf(to) === reading.task && (!isAbout || run === reading.run);
}
