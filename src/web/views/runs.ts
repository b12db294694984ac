import { openAttempt } from "../../judge/runs/standing.ts";
import { nameOf } from "../../model/actor.ts";
import { partOf } from "../../model/ids.ts";
import type { Run } from "../../model/records/run.ts";
import { type Html, html } from "../html.ts";
import { short, tag } from "../layout.ts";
import { clock } from "../times.ts";
import { showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const runs: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.runs.toReversed();
  const task = shown.all.task.id;
  const content = html`<div class="narrow"><p class="row"><a class="btn" href="/t/${task}/do/run">Start an agent…</a> <a class="btn" href="/t/${task}/do/start">Start by hand…</a></p>
<div id="runs" data-live="rows">${all.length === 0 ? html`<p class="empty">Nobody has started yet. A run is one attempt at the task, in a worktree of its own: <code>pawl run ${task} --agent claude</code></p>` : all.map((run) => card(task, run))}</div></div>`;
  return taskPage(look, shown, { tab: "runs", command: "pawl run list {task}", content });
};

function card(task: string, run: Run): Html {
  const id = partOf(run.id);
  const state = run.ended ?? (openAttempt(run) ? "working" : run.status);
  return html`<article class="card" id="${id}" data-key="${id}"><header><a href="/t/${task}/runs/${id}"><b>${id}</b></a>${tag(state, openAttempt(run) ? "ok" : toneOf(run.status))}<span>${run.agent ?? nameOf(run.holder)}, ${clock(run.created)}${run.reason !== undefined && `: ${run.reason}`}</span></header><ul>${run.repos.map((repo) => html`<li><b>${repo.name}</b> <code>${repo.worktree}</code> from ${short(repo.base_head)}${repo.head !== undefined && ` to ${short(repo.head)}`}</li>`)}</ul><p class="acts"><a class="btn" href="/t/${task}/runs/${id}">Log and controls</a>${run.snapshots.length > 0 && html`<a class="btn" href="/t/${task}/diff?run=${id}">Saved diff</a>`}</p></article>`;
}
