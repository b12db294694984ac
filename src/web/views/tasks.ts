import { nameOf } from "../../model/actor.ts";
import { TASK_STATUSES } from "../../model/records/task.ts";
import { taskList } from "../../ops/task-list.ts";
import type { TaskSummary } from "../../ports/ports.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { empty, layout, tag } from "../layout.ts";
import { ago } from "../times.ts";
import { toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

/** More than a person scrolls through; search finds the others. */
const MOST = 500;

/** Every task, or those of one status, the newest first. */
export const tasks: View = async ({ ask, now, request }) => {
  const wanted = TASK_STATUSES.find((one) => one === request.query.get("status"));
  const { data } = await ask(taskList, {
    ...(wanted === undefined ? {} : { status: [wanted] }),
    limit: MOST,
  });
  const main = html`<div class="title"><h1>Tasks</h1><span class="sp"></span><a class="btn" href="/new/task">New task…</a></div>
<nav class="tabs" aria-label="Status">${[undefined, ...TASK_STATUSES].map((one) => html`<a href="/tasks${one === undefined ? "" : `?status=${one}`}"${one === wanted && html` aria-current="page"`}>${one ?? "all"}</a>`)}</nav>
${data.tasks.length === 0 ? empty(wanted === undefined ? "No tasks yet. Write down the first one:" : `No ${wanted} tasks. Write down a new one:`, 'pawl task new "Fix the typo in the docs"') : html`<ul class="list">${data.tasks.map((one) => row(one, now))}</ul>`}
${data.tasks.length === MOST && html`<p class="quiet">The newest ${MOST}. <a href="/search">Search</a> finds the others.</p>`}`;
  return page(
    layout({
      title: "Tasks",
      section: "tasks",
      command: `pawl task list${wanted === undefined ? "" : ` --status ${wanted}`}`,
      main,
      kind: "home",
    }),
  );
};

function row(task: TaskSummary, now: number): Html {
  const why =
    task.blocker ??
    (task.depends_on.length > 0 ? `after ${task.depends_on.join(", ")}` : `${task.profile} profile`);
  return html`<li><a href="/t/${task.id}"><span class="m">${task.id}</span><b>${task.title}</b><span class="why">${why}</span></a><span class="who">${tag(task.status, toneOf(task.status))}<span class="dim small">${nameOf(task.actor)} · ${ago(task.updated, now)}</span></span></li>`;
}
