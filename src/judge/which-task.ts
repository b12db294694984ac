import { Failure } from "../model/failure.ts";
import { parsePartRef, parseTaskId, shorten } from "../model/ids.ts";
import { LIVE } from "../model/lifecycle.ts";
import type { Kind, Stored } from "../model/record.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader, TaskSummary } from "../ports/ports.ts";

/** The task a command is about, or why nobody can tell. */
export type Which = { id: string } | { id: undefined; candidates: TaskSummary[]; why: string };

/**
 * The argument, else the task of this worktree, else the branch's task, else the only active one. Never a
 * guess.
 */
export function findTask(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound">,
): Which {
  if (named !== undefined) return { id: parseTaskId(named) };
  if (at.bound !== undefined && reader.hasTask(at.bound)) return { id: at.bound };
  const { tasks } = reader.current();
  const byBranch = at.branch === undefined ? [] : tasks.filter((task) => task.branch === at.branch);
  const [mine] = byBranch;
  if (mine && byBranch.length === 1) return { id: mine.id };
  const live = tasks.filter((task) => LIVE.includes(task.status));
  const [only] = live;
  if (byBranch.length === 0 && only && live.length === 1) return { id: only.id };
  const candidates = byBranch.length > 1 ? byBranch : live.length > 0 ? live : tasks.filter(isOpen);
  return {
    id: undefined,
    candidates,
    why:
      byBranch.length > 1
        ? `${byBranch.length} tasks name the branch ${at.branch}.`
        : live.length > 1
          ? `${live.length} tasks are active.`
          : "No task is active.",
  };
}

const isOpen = (task: TaskSummary) => task.status === "open";

/** If it is not clear which task is meant, `suggest` may know better than the list of all candidates. */
export function getTask(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound">,
  suggest?: (candidates: readonly TaskSummary[]) => { task: string; command: string } | undefined,
): string {
  const which = findTask(reader, named, at);
  if (which.id !== undefined) return which.id;
  const message = `Which task? ${which.why}`;
  const better = suggest?.(which.candidates);
  if (better)
    throw new Failure("refused", "which_task", message, {
      hint: better.command,
      details: { candidates: [better.task] },
    });
  const shown = which.candidates.slice(0, 8).map((task) => `${task.id} ${shorten(task.title, 50)}`);
  throw new Failure("refused", "which_task", message, {
    hint:
      shown.length === 0
        ? `${reader.taskNames().length > 0 ? "Name one of those that `pawl task list` shows, or start" : "Start"} one, with its own worktree: pawl start "<title>"`
        : `Name it with --task:\n  ${shown.join("\n  ")}${which.candidates.length > 8 ? "\n  …" : ""}`,
    details: { candidates: which.candidates.map((task) => task.id) },
  });
}

/** The task in an id such as `T0001/F1` and the one of --task have to agree. */
export function oneTask(inId: string | undefined, named: string | undefined): string | undefined {
  if (inId === undefined || named === undefined || inId === parseTaskId(named)) return inId ?? named;
  throw new Failure("usage", "two_tasks", `The id says ${inId}, and --task says ${parseTaskId(named)}.`, {
    hint: "Leave one of them out.",
    details: { field: "task" },
  });
}

/** Finds a record by `L1` inside its task, or by `T0001/L1` from anywhere. */
export function getPart<K extends Kind>(
  reader: Reader,
  kind: K,
  named: string,
  task: string | undefined,
  at: Pick<Situation, "branch" | "bound">,
): Stored<K> {
  const ref = parsePartRef(named, kind.letter, kind.name);
  return reader.part(kind, getTask(reader, oneTask(ref.task, task), at), ref.part);
}
