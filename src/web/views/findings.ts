import type { Finding } from "../../model/records/parts.ts";
import { type Html, html } from "../html.ts";
import { empty, tag } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const findings: View = async (look) => {
  const shown = await showTask(look);
  const all = shown.all.findings.toSorted((one, other) => rank(one) - rank(other));
  const content = html`<div class="narrow">${all.length === 0 ? empty("No findings. On the diff, press c on a line, or", "pawl finding add") : all.map((one) => findingCard(one))}</div>`;
  return taskPage(look, shown, { tab: "findings", command: "pawl finding list {task}", content });
};

const rank = (one: Finding) =>
  (one.status === "open" ? 0 : 10) + ["high", "medium", "low"].indexOf(one.severity);

/** A finding wherever it is shown: in the list and below its line. */
export function findingCard(one: Finding): Html {
  const where = one.file === undefined ? "" : `${one.file}${one.line === undefined ? "" : `:${one.line}`}`;
  return html`<article class="card finding" id="${one.id.split("/")[1]}" aria-label="Finding ${one.id}"><header><b>${one.id.split("/")[1]}</b>${tag(`${one.severity} · ${one.status}`, one.status === "open" ? toneOf(one.severity) : "ok")}<span>${one.actor}, ${clock(one.created)}</span>${where && html`<code>${one.repo}: ${where}</code>`}</header>${markdown(one.text)}${one.fix && html`<p class="dim">Fix: ${one.fix}</p>`}${one.resolution && html`<p class="dim">Settled: ${one.resolution}</p>`}${one.reopen_reasons && html`<p class="dim">Reopened ${one.reopened} ×: ${one.reopen_reasons}</p>`}</article>`;
}
