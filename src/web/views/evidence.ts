import { nameOf } from "../../model/actor.ts";
import { partOf } from "../../model/ids.ts";
import type { Evidence } from "../../model/records/parts.ts";
import { commandLine } from "../../model/text.ts";
import { type Html, html, visible } from "../html.ts";
import { empty, short, tag } from "../layout.ts";
import { clock, took } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

export const evidence: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.evidence.toReversed();
  const content = html`<div class="narrow">${all.length === 0 ? empty("No check has run yet. pawl runs them and records the result:", "pawl verify") : all.map(card)}</div>`;
  return taskPage(look, shown, { tab: "evidence", command: "pawl task show {task}", content });
};

function card(one: Evidence): Html {
  const wanted = one.kind === "red" ? one.exit_code !== 0 : one.exit_code === 0;
  const words = one.kind === "red" ? (wanted ? "red as wanted" : "not red") : wanted ? "passed" : "failed";
  return html`<article class="card" id="${partOf(one.id)}"><header><b>${partOf(one.id)}</b>${tag(words, wanted ? "ok" : "bad")}<code>${visible(commandLine(one.argv))}</code></header><p class="dim">exit ${one.exit_code} after ${took(one.duration_ms)}, on ${short(one.head)}${one.dirty && " with uncommitted changes"} of ${one.repo}, by ${nameOf(one.actor)}, ${clock(one.created)}</p>${one.output !== "" && html`<details><summary>End of the output</summary><pre>${visible(one.output)}</pre></details>`}</article>`;
}
