import { nameOf } from "../../model/actor.ts";
import { partOf } from "../../model/ids.ts";
import { html } from "../html.ts";
import { empty } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

export const handoffs: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.handoffs.toReversed();
  const content = html`<div class="narrow">${all.length === 0 ? empty("No handoff yet. Before you stop working, say where things stand:", "pawl handoff") : all.map((one) => html`<article class="card" id="${partOf(one.id)}"><header><b>${partOf(one.id)}</b><span>${nameOf(one.actor)}, ${clock(one.created)}</span></header>${markdown(one.what)}<dl class="kv">${one.changed.length > 0 && html`<dt>Changed</dt><dd>${one.changed.map((file) => html`<code>${file}</code> `)}</dd>`}<dt>Checked</dt><dd>${one.validation.join("; ") || "nothing named"}</dd>${one.blocker && html`<dt>Blocker</dt><dd>${one.blocker}</dd>`}<dt>Next</dt><dd>${one.next || "nothing named"}</dd></dl></article>`)}</div>`;
  return taskPage(look, shown, { tab: "handoffs", command: "pawl task show {task}", content });
};
