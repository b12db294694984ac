import { openAttempt } from "../../judge/runs/standing.ts";
import { ENDED, MERGED } from "../../model/lifecycle.ts";
import { type Html, html } from "../html.ts";
import type { Recorded } from "./task-shell.ts";

/** The parts of a task's state that decide which actions are offered. */
interface Standing {
  isOver: boolean;
  isMerged: boolean;
  isAtWork: boolean;
  /** Somebody holds a worktree of it. */
  isHeld: boolean;
  hasAgent: boolean;
  isBegun: boolean;
}

type Entry = readonly [action: string, word: string, offered: (now: Standing) => boolean];

/** Everything that can be done to a task, in the order in which one needs it. What does not fit is refused by the operation. */
const ENTRIES: readonly Entry[] = [
  ["edit", "Edit…", (now) => !now.isMerged],
  ["run", "Start an agent…", (now) => !now.isOver && !now.isAtWork],
  ["resume", "Resume the run…", (now) => !now.isOver && now.hasAgent && !now.isAtWork],
  ["stop", "Stop the agent…", (now) => now.isAtWork],
  ["start", "Start by hand…", (now) => !now.isOver && !now.isHeld],
  ["decide", "Record a decision…", (now) => !now.isOver],
  ["finding", "Add a finding…", (now) => !now.isOver && now.isBegun],
  ["lane", "Reserve paths…", (now) => !now.isOver],
  ["mail", "Send a message…", (now) => !now.isOver],
  ["refresh", "Update from the base…", (now) => !now.isOver && now.isHeld && !now.isAtWork],
  ["snapshot", "Save the diff again…", (now) => now.isHeld],
  ["check", "Check now…", (now) => !now.isOver && now.isHeld && !now.isAtWork],
  ["keep", "End the run, keep its worktrees…", (now) => now.isHeld && !now.isAtWork],
  ["remove", "End the run, remove its worktrees…", (now) => now.isHeld && !now.isAtWork],
  ["drop", "Drop the task…", (now) => !now.isOver && !now.isAtWork],
];

export function entriesFor({
  task,
  runs,
}: Pick<Recorded, "task" | "runs">): [action: string, word: string][] {
  const isMerged = MERGED.includes(task.status);
  const held = runs.findLast((run) => run.ended === undefined);
  const now: Standing = {
    isMerged,
    isOver: ENDED.includes(task.status),
    isAtWork: runs.some((run) => openAttempt(run)),
    isHeld: held !== undefined,
    hasAgent: (held?.attempts.length ?? 0) > 0,
    isBegun: runs.length > 0,
  };
  return ENTRIES.filter(([, , offered]) => offered(now)).map(([action, word]) => [action, word]);
}

export function taskMenu(all: Recorded): Html {
  const entries = entriesFor(all);
  if (entries.length === 0) return html``;
  return html`<details class="menu"><summary class="btn">Actions</summary><ul id="menu" data-live>${entries.map(([action, word]) => html`<li><a href="/t/${all.task.id}/do/${action}${action === "mail" && `?to=${all.task.id}`}">${word}</a></li>`)}</ul></details>`;
}
