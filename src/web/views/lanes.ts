import { nameOf } from "../../model/actor.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { laneList } from "../../ops/lane-list.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { layout, tag } from "../layout.ts";
import { clock } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

/** Who may touch what, and who waits for whom. */
export const lanes: View = async ({ ask }) => {
  const { data } = await ask(laneList, {});
  const waiting = data.lanes.filter((one) => one.waits_for.length > 0).length;
  const main = html`<div class="title"><h1>Lanes</h1>${data.lanes.length > 0 && html`<span class="dim">${data.lanes.length} open${waiting > 0 && `, ${waiting} waiting`}</span>`}</div>
<p class="dim">A lane reserves paths for one task, so that other tasks stay off them. A change outside the lane becomes a finding.</p>
<div id="lanes" data-live="rows">${data.lanes.length === 0 ? html`<p class="empty">No lanes yet. Reserve paths for a task, and no other task can take them: <code>pawl lane add T0001 --path src/api</code></p>` : laneTable(data.lanes)}</div>`;
  return page(layout({ title: "Lanes", section: "lanes", command: "pawl lane list", main, kind: "home" }));
};

/** All lanes of one task, closed ones included. */
export const taskLanes: View = async (look) => {
  const shown = await showTask(look);
  const { id } = shown.all.task;
  const { data } = await look.ask(laneList, { task: id });
  const content = html`<div class="narrow"><p class="row"><a class="btn" href="/t/${id}/do/lane">Reserve paths…</a> <a href="/lanes">All lanes</a></p>
<div id="lanes" data-live="rows">${data.lanes.length === 0 ? html`<p class="empty">This task reserves no paths, so others may change the same files at the same time: <code>pawl lane add ${id} --path src/api</code></p>` : laneTable(data.lanes, true)}</div></div>`;
  return taskPage(look, shown, { tab: "lanes", command: "pawl lane list {task}", content });
};

type Listed = Parameters<typeof laneList.text>[0]["lanes"][number];

const laneTable = (all: readonly Listed[], isAlone = false): Html =>
  html`<table class="sum"><caption class="vh">Lanes</caption><thead><tr><th scope="col">Lane</th><th scope="col">Paths</th><th scope="col">Owner</th><th scope="col">Order</th><th scope="col"><span class="vh">Actions</span></th></tr></thead><tbody>${all.map((one) => laneRow(one, isAlone))}</tbody></table>`;

/** `isAlone`: only lanes of this task are on the page, so `L1` is unique and can be an anchor. */
function laneRow({ id, status, paths, owner, waits_for, created, why }: Listed, isAlone: boolean): Html {
  const [task, part] = [taskOf(id), partOf(id)];
  const to = (action: string) => `/t/${task}/do/${action}?lane=${part}`;
  const acts =
    status === "open" &&
    html`<span class="acts"><a class="btn" href="${to("lane-edit")}">Edit…</a> <a class="btn" href="${to("lane-close")}">Release…</a></span>`;
  return html`<tr data-key="${id}"${isAlone && html` id="${part}"`}><th scope="row"><a href="/t/${task}/lanes" class="m">${id}</a>${status !== "open" && html` ${tag(status)}`}</th><td class="about">${paths.map((path) => html`<div><code>${path}</code></div>`)}${why !== "" && html`<div class="dim">${why}</div>`}</td><td>${nameOf(owner)}<div class="dim">${clock(created)}</div></td><td>${waits_for.length > 0 && html`after ${waits_for.map((other) => html`<a href="/t/${other}" class="m">${other}</a> `)}`}</td><td class="last">${acts}</td></tr>`;
}
