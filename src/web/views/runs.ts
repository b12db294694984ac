import { html } from "../html.ts";
import { empty, short, tag } from "../layout.ts";
import { clock } from "../times.ts";
import { showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const runs: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.runs.toReversed();
  const content = html`<div class="narrow">${all.length === 0 ? empty("Nobody has begun. A branch and a worktree are made by", `pawl start ${shown.all.task.id}`) : all.map((run) => html`<article class="card" id="${run.id.split("/")[1]}"><header><b>${run.id.split("/")[1]}</b>${tag(run.ended ?? run.status, toneOf(run.status))}<span>${run.holder}, ${clock(run.created)}${run.reason !== undefined && `: ${run.reason}`}</span></header><ul>${run.repos.map((repo) => html`<li><b>${repo.name}</b> <code>${repo.worktree}</code> from ${short(repo.base_head)}${repo.head !== undefined && ` to ${short(repo.head)}`}</li>`)}</ul>${run.snapshots.length > 0 && html`<p><a href="/t/${shown.all.task.id}/diff?run=${run.id.split("/")[1]}">The saved diff</a></p>`}</article>`)}</div>`;
  return taskPage(look, shown, { tab: "runs", command: "pawl run list {task}", content });
};
