import { changedNothing, hasWorktrees } from "../../judge/current-run.ts";
import type { Reason } from "../../judge/gates/gate.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
import { partOf } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { type Html, html } from "../html.ts";
import type { Recorded } from "./task-shell.ts";

/** What one can do from here; the first is what is most likely wanted. */
interface Act {
  word: string;
  path: string;
  main?: true;
}

export interface Sentence {
  what: string;
  how: Html;
  acts: Act[];
}

export const button = ({ word, path, main }: Act): Html =>
  html`<a class="btn${main && " go"}" href="${path}">${word}</a>`;

/** How an agent's run ends that needs somebody to look after it. */
const STOPPED = ["failed", "interrupted"];

/** What is awaited from whom. */
export function sentence(all: Recorded, reasons: readonly Reason[]): Sentence {
  const { task, runs } = all;
  const at = (path: string) => `/t/${task.id}/${path}`;
  const nobody = html`Nothing is left to do.`;
  const working = runs.findLast(openAttempt);
  if (MERGED.includes(task.status)) {
    const acts = runs.some((run) => run.ended === undefined)
      ? [{ word: "Remove the worktrees…", path: at("do/remove") }]
      : [];
    return { what: "Merged.", how: nobody, acts };
  }
  if (task.status === "dropped") return { what: "Dropped.", how: nobody, acts: [] };
  if (working) {
    const id = partOf(working.id);
    return {
      what: `${working.agent ?? "An agent"} is running.`,
      how: html`Nothing is needed from you until ${id} ends. <a href="${at(`runs/${id}`)}">Watch its log</a>`,
      acts: [{ word: "Stop…", path: at("do/stop") }],
    };
  }
  if (task.status === "blocked")
    return {
      what: `Waiting for you: ${task.blocker ?? "it is blocked."}`,
      how: html`Record your decision, then unblock the task: <code>pawl task update ${task.id} --status active</code>`,
      acts: [
        { word: "Record a decision…", path: at("do/decide"), main: true },
        { word: "Unblock…", path: at("do/edit") },
      ],
    };
  if (task.status === "open")
    return {
      what: "Not started yet.",
      how: html`Let an agent work on it in its own worktree: <code>pawl run ${task.id} --agent claude</code>`,
      acts: [
        { word: "Start an agent…", path: at("do/run"), main: true },
        { word: "Start by hand…", path: at("do/start") },
      ],
    };
  const last = runs.findLast((run) => run.attempts.length > 0);
  if (last && last === runs.at(-1) && last.ended === undefined && STOPPED.includes(last.status)) {
    const id = partOf(last.id);
    return {
      what: `Waiting for you: ${id} ${last.status === "failed" ? "failed" : "was interrupted"}.`,
      how: html`<a href="${at(`runs/${id}`)}">Read its log</a>, then resume it: <code>pawl run resume ${last.id}</code>`,
      acts: [
        { word: "Resume it…", path: at(`do/resume?run=${id}`), main: true },
        { word: "Read the diff", path: at("diff") },
      ],
    };
  }
  // Where an agent has worked, approving writes the missing handoff from its commits: the inbox says so too.
  const open = reasons.filter((one) => last === undefined || one.code !== "no_handoff");
  const place = runs.findLast(hasWorktrees);
  if (open.length === 0 && last && place && changedNothing(place)) {
    const id = partOf(last.id);
    return {
      what: `Waiting for you: ${id} succeeded, but changed nothing.`,
      how: html`<a href="${at(`runs/${id}`)}">Read its log</a>, then tell it what is missing: <code>pawl run resume ${last.id} "…"</code>`,
      acts: [{ word: "Resume it…", path: at(`do/resume?run=${id}`), main: true }],
    };
  }
  return underWay(open, at);
}

function underWay([first]: readonly Reason[], at: (path: string) => string): Sentence {
  const read: Act = { word: "Read the diff", path: at("diff") };
  if (!first)
    return {
      what: "Waiting for you: ready to approve.",
      how: html`Nothing is missing, according to the records. Read the diff first; pawl asks git and the remotes once more before it merges.`,
      acts: [read, { word: "Approve…", path: at("approve"), main: true }],
    };
  const who = { author: "the author", reviewer: "a reviewer", human: "you" }[first.owner];
  const what = `Waiting for ${who}: ${first.message}`;
  const how = html`Settle it with <code>${first.command}</code>`;
  if (first.owner === "reviewer") return { what, how, acts: [{ ...read, main: true }] };
  if (first.owner === "author")
    return { what, how, acts: [{ word: "Start an agent on it…", path: at("do/run") }] };
  return { what, how, acts: [] };
}
