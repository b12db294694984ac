import { isHuman } from "../../model/actor.ts";
import { taskOf } from "../../model/ids.ts";
import { LIVE } from "../../model/lifecycle.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader, TaskSummary } from "../../ports/ports.ts";
import { latestPlace } from "../current-run.ts";
import { findTask, type Which } from "../which-task.ts";

/** A task that somebody works on. */
export interface UnderWay {
  id: string;
  title: string;
  status: string;
  /** Undefined if nobody has started it. */
  holder: string | undefined;
  /** This very session holds it. */
  yours: boolean;
  /** Relative to the repository's main worktree. */
  worktrees: string[];
}

type Here = Pick<Situation, "branch" | "bound" | "minds" | "run">;

/**
 * The task that a session is about. If several are under way and the current folder and branch do not tell,
 * it is the one that this session holds.
 */
export function sessionTask(reader: Reader, named: string | undefined, at: Here): Which {
  const which = findTask(reader, named, at);
  if (which.id !== undefined) return which;
  const [mine, second] = which.candidates
    .filter((task) => LIVE.includes(task.status))
    .map((task) => underWay(reader, task, at))
    .filter((task) => task.yours);
  if (mine && !second) return { id: mine.id };
  // A run that starts others has no worktree to be in, but its environment names its task.
  const own = at.run && taskOf(at.run);
  return own !== undefined && reader.hasTask(own) ? { id: own } : which;
}

/** More than anybody can keep in mind. */
const MOST = 8;
/** Whose a task is stands in its runs; this many are read quickly. */
const MOST_READ = 64;

/** What else is being worked on, this session's own tasks first. */
export function othersUnderWay(
  reader: Reader,
  task: string | undefined,
  at: Pick<Here, "minds">,
): UnderWay[] {
  const others = reader.live().filter((one) => one.id !== task);
  const all = others.slice(0, MOST_READ).map((one) => underWay(reader, one, at));
  return [...all.filter((one) => one.yours), ...all.filter((one) => !one.yours)].slice(0, MOST);
}

/** The current runs with worktrees: this task's, or those of all tasks under way. */
export function placesUnderWay(
  reader: Reader,
  tasks: readonly TaskSummary[],
  task: string | undefined,
): Run[] {
  return tasks
    .filter((one) => LIVE.includes(one.status) && (task === undefined || one.id === task))
    .slice(0, MOST)
    .flatMap((one) => currentPlace(reader, one.id) ?? []);
}

const currentPlace = (reader: Reader, task: string): Run | undefined =>
  latestPlace(reader.parts(run, task).records)?.value;

function underWay(reader: Reader, { id, title, status }: TaskSummary, at: Pick<Here, "minds">): UnderWay {
  const current = currentPlace(reader, id);
  return {
    id,
    title,
    status,
    holder: current?.holder,
    yours: holds(current?.holder, at),
    worktrees: (current?.repos ?? []).map((one) => one.worktree),
  };
}

/**
 * A holder is one session; an agent that names no sessions counts as a single one. What a human holds is no session's, so
 * nobody has to find out who is asking.
 */
export function holds(holder: string | undefined, at: Pick<Here, "minds">): boolean {
  return holder !== undefined && !isHuman(holder) && at.minds.includes(holder);
}
