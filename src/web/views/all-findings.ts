import { findingPlace } from "../../judge/findings.ts";
import { nameOf } from "../../model/actor.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { FINDING_STATUSES, type Finding } from "../../model/records/parts.ts";
import { firstLine } from "../../model/text.ts";
import { findingList } from "../../ops/finding-list.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { empty, layout, tag } from "../layout.ts";
import { ago } from "../times.ts";
import { rank } from "./findings.ts";
import { toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

/** What findings can be read by; each gives the heading that a finding stands under. */
const GROUPS: Readonly<Record<string, (one: Finding) => string>> = {
  severity: (one) => one.severity,
  task: (one) => taskOf(one.id),
  file: (one) => (one.file === undefined ? "no file" : `${one.repo}: ${one.file}`),
};

/** The findings of all tasks with one status: what is open now, or what was put off. */
export const allFindings: View = async ({ ask, now, request }) => {
  const status = FINDING_STATUSES.find((one) => one === request.query.get("status")) ?? "open";
  const asked = request.query.get("by") ?? "";
  const by = Object.hasOwn(GROUPS, asked) ? asked : "severity";
  const { data } = await ask(findingList, { all: true });
  const shown = data.findings
    .filter((one) => one.status === status)
    .toSorted((one, other) => rank(one) - rank(other) || (one.id < other.id ? 1 : -1));
  const to = (change: Record<string, string>) =>
    `/findings?${new URLSearchParams({ status, by, ...change })}`;
  const counted = (one: string) => data.findings.filter((finding) => finding.status === one).length || "";
  const main = html`<div class="title"><h1>Findings</h1><span class="sp"></span><span class="seg" role="group" aria-label="Grouped by">${Object.keys(GROUPS).map((one) => html`<a href="${to({ by: one })}"${one === by && html` aria-current="true"`}>by ${one}</a>`)}</span></div>
<nav class="tabs" aria-label="Status">${FINDING_STATUSES.map((one) => html`<a href="${to({ status: one })}"${one === status && html` aria-current="page"`}>${WORDS[one]}<i>${counted(one)}</i></a>`)}</nav>
<div id="findings" data-live="rows">${shown.length === 0 ? nothing(status) : groups(shown, by, now)}</div>`;
  const command = `pawl finding list --all --status ${status}`;
  return page(layout({ title: "Findings", section: "findings", command, main, kind: "home" }));
};

const WORDS: Readonly<Record<Finding["status"], string>> = {
  open: "open",
  fixed: "fixed",
  integrated: "merged",
  deferred: "deferred",
  wontfix: "won't fix",
};

const nothing = (status: Finding["status"]): Html =>
  status === "open"
    ? empty(
        "No open findings. To add one, press c on a line of a diff, or:",
        'pawl finding add "What is wrong" --task T0001',
      )
    : empty(`No findings here: none is ${status === "wontfix" ? "closed without a fix" : WORDS[status]}.`);

function groups(shown: readonly Finding[], by: string, now: number): Html[] {
  const headingOf = GROUPS[by] ?? String;
  const headings = [...new Set(shown.map(headingOf))];
  return headings.map((heading, at) => {
    const rows = shown.filter((one) => headingOf(one) === heading);
    return html`<section aria-labelledby="group-${at}"><h2 id="group-${at}">${heading} <i>${rows.length}</i></h2><ul class="list">${rows.map((one) => row(one, now))}</ul></section>`;
  });
}

function row(one: Finding, now: number): Html {
  const [task, id] = [taskOf(one.id), partOf(one.id)];
  const place = [findingPlace(one), one.reopened > 0 && `reopened ${one.reopened} ×`].filter(Boolean);
  const text = firstLine(one.text.replaceAll("`", ""), 160);
  return html`<li data-key="${one.id} ${one.status}"><a href="/t/${task}/findings#${id}"><span class="m">${one.id}</span><b>${text}</b><span class="why">${place.join(" · ")}</span></a><span class="who">${tag(one.severity, one.status === "open" ? toneOf(one.severity) : "plain")}<span class="dim small">${nameOf(one.actor)} · ${ago(one.created, now)}</span></span></li>`;
}
