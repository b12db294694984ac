import { nameOf } from "../../model/actor.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import type { Finding } from "../../model/records/parts.ts";
import { type Html, html } from "../html.ts";
import { tag } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const findings: View = async (look) => {
  const shown = await showTask(look);
  const task = shown.all.task.id;
  const all = shown.all.findings.toSorted((one, other) => rank(one) - rank(other));
  const content = html`<div class="narrow"><p class="row"><a class="btn" href="/t/${task}/do/finding">Add a finding…</a> <a href="/findings">All findings</a></p>
<div id="findings" data-live="rows">${all.length === 0 ? html`<p class="empty">No findings yet. On the <a href="/t/${task}/diff">diff</a>, press <kbd>c</kbd> on a line. A finding stays open until the author settles it: <code>pawl finding add "What is wrong" --task ${task}</code></p>` : all.map((one) => findingCard(one))}</div></div>`;
  return taskPage(look, shown, { tab: "findings", command: "pawl finding list {task}", content });
};

export const rank = (one: Finding) =>
  (one.status === "open" ? 0 : 10) + ["high", "medium", "low"].indexOf(one.severity);

/** What may become of a finding from where it is; who may not is refused by the operation. */
const STEPS: Readonly<Record<Finding["status"], readonly (readonly [string, string])[]>> = {
  open: [
    ["Fixed…", "resolve"],
    ["Defer…", "defer"],
    ["Won't fix…", "wontfix"],
  ],
  deferred: [
    ["Fixed…", "resolve"],
    ["Reopen…", "reopen"],
  ],
  fixed: [["Reopen…", "reopen"]],
  wontfix: [["Reopen…", "reopen"]],
  integrated: [["Reopen…", "reopen"]],
};

/** A finding wherever it is shown: in the list and below its line. */
export function findingCard(one: Finding): Html {
  const [task, id] = [taskOf(one.id), partOf(one.id)];
  const where = one.file === undefined ? "" : `${one.file}${one.line === undefined ? "" : `:${one.line}`}`;
  return html`<article class="card finding" id="${id}" data-key="${id}" aria-label="Finding ${one.id}"><header><b>${id}</b>${tag(`${one.severity} · ${one.status}`, one.status === "open" ? toneOf(one.severity) : "ok")}<span>${nameOf(one.actor)}, ${clock(one.created)}</span>${where && html`<code>${one.repo}: ${where}</code>`}</header>${markdown(one.text)}${one.fix && html`<div class="dim fix">${markdown(`Fix: ${one.fix}`)}</div>`}${one.resolution && html`<div class="dim">${markdown(`Settled: ${one.resolution}`)}</div>`}${one.reopen_reasons && html`<div class="dim">Reopened ${one.reopened} ×${markdown(one.reopen_reasons)}</div>`}<p class="acts">${STEPS[one.status].map(([word, action]) => html`<a class="btn" href="/t/${task}/do/${action}?finding=${id}">${word}</a>`)}</p></article>`;
}
