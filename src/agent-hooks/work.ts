import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { namesIfReadable, textIfReadable } from "../files/read.ts";
import { taskOfWorktree } from "../git/discover.ts";
import { headFiles, logOf } from "../git/refs.ts";
import { worktreesOf } from "../git/repository-files.ts";
import { quickValue } from "../model/markdown/front-matter.ts";
import { findHome } from "../store/home.ts";
import type { Spot } from "./facts.ts";
import type { Work } from "./handoff-reminder.ts";

/** A worktree that is bound to a task. */
export interface TaskWorktree {
  task: string;
  root: string;
  gitDir: string;
}

/**
 * Where a session works: the worktree it stands in, else the one that it started itself, else the only one there is.
 * Agents that stand at the repository's top reach worktrees by their paths.
 */
export function findWorkplace(spot: Spot, session: string): TaskWorktree | undefined {
  if (spot.task !== undefined && spot.root !== undefined)
    return { task: spot.task, root: spot.root, gitDir: spot.gitDir };
  const all = boundWorktrees(spot);
  const state = stateOf(spot);
  const own = all.filter(({ task }) => session !== "" && startedBy(state, task).includes(session));
  return own.length === 1 ? own[0] : all.length === 1 ? all[0] : undefined;
}

function boundWorktrees(spot: Spot): TaskWorktree[] {
  return worktreesOf(spot).flatMap(({ root, gitDir }) => {
    const task = taskOfWorktree(gitDir);
    return task && root && existsSync(root) ? [{ task, root, gitDir }] : [];
  });
}

export const stateOf = (spot: Spot) => findHome(spot, spot.commonDir).state;

/** The record of the newest run of a task. */
export function newestRun(state: string, task: string): { id: string; path: string } | undefined {
  const runs = join(state, "tasks", task, "runs");
  const newest = namesIn(runs).toSorted(byNumber).at(-1);
  return newest === undefined ? undefined : { id: `${task}/${newest}`, path: join(runs, newest, "run.md") };
}

/** Who started the newest run of a task. */
function startedBy(state: string, task: string): string {
  const newest = newestRun(state, task);
  return newest === undefined ? "" : (field(newest.path, "actor") ?? "");
}

export function lookAtWork(
  spot: Spot,
  place: TaskWorktree,
  began: number,
  changedPaths: readonly string[],
): Work {
  const folder = join(stateOf(spot), "tasks", place.task);
  const handoffs = join(folder, "handoffs");
  const newest = namesIn(handoffs).toSorted(byNumber).at(-1);
  const written = newest && Date.parse(field(join(handoffs, newest), "created") ?? "");
  const times = [
    lastCommit(place.gitDir),
    ...changedPaths.slice(0, 500).map((path) => changedAt(place.root, path)),
  ];
  const changed = Math.max(0, ...times.filter((time) => time >= began));
  return {
    task: place.task,
    root: place.root,
    status: field(join(folder, "task.md"), "status") ?? "",
    changedAt: changed === 0 ? undefined : changed,
    handoffAt: written || undefined,
  };
}

/** When the worktree's branch last got a commit; its log also has moves that changed nothing. */
function lastCommit(gitDir: string): number {
  const last = (logOf(gitDir, "HEAD") ?? []).findLast(({ message }) =>
    /^(?:commit|cherry-pick|revert|rebase|merge|am)\b/.test(message),
  );
  if (last === undefined) return 0;
  // The log counts in whole seconds. Within one, it cannot have happened after the log was last written.
  const [, log] = headFiles(gitDir);
  return Math.min(last.time * 1000 + 999, statSync(log).mtimeMs);
}

/** A path that was deleted tells no time of its own, but its folder does. */
function changedAt(root: string, path: string): number {
  for (const at of [join(root, path), dirname(join(root, path))]) {
    const stat = statSync(at, { throwIfNoEntry: false });
    if (stat) return stat.mtimeMs;
  }
  return 0;
}

export const byNumber = (left: string, right: string) => numberIn(left) - numberIn(right);
const numberIn = (name: string) => Number(/\d+/.exec(name)?.[0] ?? 0);

/** One value of a record's header; lists and maps are of no use here. */
export function field(path: string, name: string): string | undefined {
  const value = quickValue(textIfReadable(path) ?? "", name);
  return typeof value === "string" ? value : undefined;
}

export const namesIn = (folder: string) => namesIfReadable(folder).filter((name) => !name.startsWith("."));
