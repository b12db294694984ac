import { taskList } from "../../ops/task-list.ts";
import { taskReady } from "../../ops/task-ready.ts";
import type { TaskSummary } from "../../ports/ports.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { empty, layout, tag } from "../layout.ts";
import { ago } from "../times.ts";
import { toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const home: View = async ({ ask, now, project }) => {
  const { data } = await ask(taskList, {});
  const { data: ready } = await ask(taskReady, {});
  const live = data.tasks.filter((task) => ["active", "blocked", "review"].includes(task.status));
  const past = data.tasks
    .filter((task) => ["merged", "done"].includes(task.status))
    .slice(-8)
    .reverse();
  const main = html`<div class="title"><h1>${project}</h1></div>
${data.tasks.length === 0 ? empty("No tasks yet. The first one is made by", 'pawl task new "Fix the typo in the docs"') : [section("In work", live, now), section("Ready to begin", ready.tasks, now), section("Recently merged", past, now)]}`;
  return page(layout({ title: project, section: "tasks", command: "pawl inbox", main, kind: "home" }));
};

function section(title: string, tasks: readonly TaskSummary[], now: number): Html | undefined {
  if (tasks.length === 0) return undefined;
  const id = title.toLowerCase().replaceAll(" ", "-");
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title} <i>${tasks.length}</i></h2><ul class="list">${tasks.map((task) => row(task, now))}</ul></section>`;
}

function row(task: TaskSummary, now: number): Html {
  const why =
    task.blocker ?? (task.depends_on.length > 0 ? `depends on ${task.depends_on.join(", ")}` : task.profile);
  return html`<li><a href="/t/${task.id}"><span class="m">${task.id}</span><b>${task.title}</b><span class="why">${why}</span></a><span class="who">${tag(task.status, toneOf(task.status))}<span class="dim small">${task.actor.split(":")[1]} · ${ago(task.updated, now)}</span></span></li>`;
}
