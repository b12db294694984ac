import type { Reason } from "../../judge/gates/gate.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
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

/** What is awaited from whom. */
export function sentence(all: Recorded, reasons: readonly Reason[]): Sentence {
  const { task, runs } = all;
  const at = (path: string) => `/t/${task.id}/${path}`;
  const nobody = html`Nothing is awaited from anybody.`;
  const working = runs.findLast(openAttempt);
  if (task.status === "done" || task.status === "merged") {
    const acts = runs.some((run) => run.ended === undefined)
      ? [{ word: "Remove the worktrees…", path: at("do/remove") }]
      : [];
    return { what: "Merged.", how: nobody, acts };
  }
  if (task.status === "dropped") return { what: "Dropped.", how: nobody, acts: [] };
  if (working) {
    const id = working.id.split("/")[1] ?? "";
    return {
      what: `${working.agent ?? "An agent"} is at work.`,
      how: html`Nothing is needed from you until ${id} ends; <a href="${at(`runs/${id}`)}">see what it does</a>.`,
      acts: [{ word: "Stop…", path: at("do/stop") }],
    };
  }
  if (task.status === "blocked")
    return {
      what: `Waiting for you: ${task.blocker ?? "it is blocked"}`,
      how: html`Record what you decide; then it can go on. Settled by: <code>pawl task update ${task.id} --status active</code>`,
      acts: [
        { word: "Record a decision…", path: at("do/decide"), main: true },
        { word: "Unblock…", path: at("do/edit") },
      ],
    };
  if (task.status === "open")
    return {
      what: "Not begun.",
      how: html`An agent works in a worktree of its own: <code>pawl run ${task.id} --agent claude</code>`,
      acts: [
        { word: "Start an agent…", path: at("do/run"), main: true },
        { word: "Begin by hand…", path: at("do/start") },
      ],
    };
  return underWay(reasons, at);
}

function underWay([first]: readonly Reason[], at: (path: string) => string): Sentence {
  const read: Act = { word: "Read the diff", path: at("diff") };
  if (!first)
    return {
      what: "Waiting for you: it may be approved.",
      how: html`Nothing known is missing. Read the diff before you say yes; git and the remotes are asked once more on the way.`,
      acts: [read, { word: "Approve…", path: at("approve"), main: true }],
    };
  const who = { author: "the author", reviewer: "a reviewer", human: "you" }[first.owner];
  const what = `Waiting for ${who}: ${first.message}`;
  const how = html`Settled by: <code>${first.command}</code>`;
  if (first.owner === "reviewer") return { what, how, acts: [{ ...read, main: true }] };
  if (first.owner === "author")
    return { what, how, acts: [{ word: "Go on with an agent…", path: at("do/run") }] };
  return { what, how, acts: [] };
}
