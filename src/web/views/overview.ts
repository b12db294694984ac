import { nameOf } from "../../model/actor.ts";
import { partOf } from "../../model/ids.ts";
import { html } from "../html.ts";
import { empty, short, tag } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const overview: View = async (look) => {
  const shown = await showTask(look);
  const { task, decisions, reviews, approvals } = shown.all;
  const prose = (title: string, text: string) =>
    text !== "" && html`<section class="prose"><h2>${title}</h2>${markdown(text)}</section>`;
  const content = html`<div class="narrow">
${task.objective === "" ? empty("No objective yet. Say what will be true when this is done:", `pawl task edit ${task.id}`) : prose("Objective", task.objective)}
${prose("Acceptance", task.acceptance)}${prose("Plan", task.plan)}${prose("Notes", task.notes)}
${task.slices.length > 0 && html`<section class="prose"><h2>Slices</h2><ul>${task.slices.map((slice) => html`<li>${tag(slice.status, slice.status === "closed" ? "ok" : "plain")} <b>${slice.id}</b> ${slice.title}</li>`)}</ul></section>`}
${decisions.length > 0 && html`<section class="prose"><h2>Decisions</h2>${decisions.map((one) => html`<article class="card" id="${partOf(one.id)}"><header><b>${partOf(one.id)}</b><span>${nameOf(one.actor)}, ${clock(one.created)}</span></header><p>${one.what}</p><p class="dim">${one.why}</p></article>`)}</section>`}
${reviews.length > 0 && html`<section class="prose"><h2>Reviews</h2><ul>${reviews.map((one) => html`<li id="${partOf(one.id)}">${tag(one.verdict.replaceAll("_", " "), toneOf(one.verdict))} <b>${partOf(one.id)}</b> ${one.kind} by ${nameOf(one.actor)}, ${clock(one.created)}${!one.counts && " (by the author, so no gate counts it)"}</li>`)}</ul></section>`}
${approvals.length > 0 && html`<section class="prose"><h2>Approvals</h2><ul>${approvals.map((one) => html`<li id="${partOf(one.id)}">${tag(one.status, toneOf(one.status))} <b>${partOf(one.id)}</b> by ${nameOf(one.actor)}, ${one.how}, ${clock(one.created)}: ${one.repos.map((repo) => `${repo.name} ${short(repo.old)} → ${short(repo.new)}`).join(", ")}</li>`)}</ul></section>`}
</div>`;
  return taskPage(look, shown, { tab: "", command: "pawl task show {task}", content });
};
