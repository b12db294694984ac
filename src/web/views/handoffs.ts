import { html } from "../html.ts";
import { empty } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

export const handoffs: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.handoffs.toReversed();
  const content = html`<div class="narrow">${all.length === 0 ? empty("No handoff yet. Whoever stops says where things stand:", "pawl handoff") : all.map((one) => html`<article class="card"><header><b>${one.id.split("/")[1]}</b><span>${one.actor}, ${clock(one.created)}</span></header>${markdown(one.what)}<dl class="kv"><dt>Changed</dt><dd>${one.changed.map((file) => html`<code>${file}</code> `)}</dd><dt>Validation</dt><dd>${one.validation.join("; ") || "none named"}</dd><dt>Blocker</dt><dd>${one.blocker || "none"}</dd><dt>Next</dt><dd>${one.next || "nothing named"}</dd></dl></article>`)}</div>`;
  return taskPage(look, shown, { tab: "handoffs", command: "pawl task show {task}", content });
};
