import type { Inbox, Need } from "../../judge/runs/inbox.ts";
import { nameOf } from "../../model/actor.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { plural } from "../../model/text.ts";
import { inbox } from "../../ops/inbox.ts";
import { repoList } from "../../ops/repo-list.ts";
import { status } from "../../ops/status.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { layout, mono, short, tag } from "../layout.ts";
import { ago, lasted } from "../times.ts";
import { firstSteps } from "./first-steps.ts";
import type { View } from "./view.ts";

const MOST_READY = 20;

/** What needs a person, who is at work, what is ready to start, what came to its end: the inbox, as a page. */
export const home: View = async ({ ask, now, project }) => {
  const { data, warnings } = await ask(inbox, {});
  const { data: here } = await ask(status, {});
  const { data: around } = await ask(repoList, {});
  const { status: state } = here;
  const main = html`<div class="title"><h1>${project}</h1><span class="dim" id="where" data-live>${state.branch ?? "detached"} ${mono(short(state.commit))}, ${state.installed ? "guarded" : "not guarded"} · ${plural(around.repos.length, "repository", "repositories")}</span><span class="sp"></span><a class="btn" href="/new/task">New task…</a></div>
${warnings.map((one) => html`<p class="warning">${one}</p>`)}
<div id="inbox" data-live="rows">${isEmpty(data.inbox) ? firstSteps(state.installed) : sections(data.inbox, now)}</div>
<p class="row"><a href="/tasks">All tasks</a></p>`;
  return page(layout({ title: project, section: "tasks", command: "pawl inbox", main, kind: "home" }));
};

const isEmpty = ({ needs_you, running, held, claimed, ready, recent }: Inbox) =>
  [needs_you, running, held, claimed, ready, recent].every((one) => one.length === 0);

function sections(found: Inbox, now: number): Html {
  const more = found.ready.length - MOST_READY;
  return html`${section(
    "Needs you",
    found.needs_you.map((one) => needRow(one, now)),
    "Nothing needs you right now.",
  )}
${section("Running", found.running.map(runningRow))}
${section(
  "Worked on by hand",
  heldOnly(found).map((one) =>
    row({
      task: one.task,
      title: one.title,
      why: `held by ${nameOf(one.holder)}`,
      tag: tag("held"),
      who: ago(one.since, now),
    }),
  ),
)}
${section(
  "Claimed elsewhere",
  found.claimed.map((one) =>
    row({
      task: one.task,
      title: one.title,
      why: `${nameOf(one.holder)} on ${one.machine}${one.expired ? "; not renewed since" : ""}`,
      tag: tag(one.expired ? "expired" : "claimed"),
      who: ago(one.since, now),
    }),
  ),
)}
${section(
  "Ready to start",
  found.ready
    .slice(0, MOST_READY)
    .map((one) => row({ task: one.id, title: one.title, why: "Nothing blocks it.", tag: tag("open") })),
)}${more > 0 && html`<p class="row"><a href="/tasks?status=open">… and ${more} more</a></p>`}
${section(
  "Recent",
  recentOnce(found.recent).map((one) => recentRow(one, now)),
)}`;
}

/** Leaves out held tasks that are already listed under "Needs you". */
const heldOnly = ({ held, needs_you }: Inbox) =>
  held.filter((one) => !needs_you.some((need) => need.task === one.task));

function section(title: string, rows: readonly Html[], nothing?: string): Html | undefined {
  if (rows.length === 0 && nothing === undefined) return undefined;
  const id = title.toLowerCase().replaceAll(" ", "-");
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title} <i>${rows.length || ""}</i></h2>${rows.length === 0 ? html`<p class="quiet">${nothing}</p>` : html`<ul class="list">${rows}</ul>`}</section>`;
}

interface Row {
  task: string;
  title: string;
  why: string;
  tag: Html;
  who?: string;
  /** Where a click leads: the page for the next step. */
  path?: string;
}

const row = ({ task, title, why, tag: word, who = "", path = `/t/${task}` }: Row): Html =>
  html`<li data-key="${task} ${path}"><a href="${path}"><span class="m">${task}</span><b>${title}</b><span class="why">${why}</span></a><span class="who">${word}<span class="dim small">${who}</span></span></li>`;

const NEEDS: Readonly<
  Record<Need["kind"], { word: string; tone: "human" | "warn" | "bad" | "plain"; tab: string; why?: string }>
> = {
  mail: { word: "message", tone: "human", tab: "/mail" },
  approve: {
    word: "approve",
    tone: "human",
    tab: "/approve",
    why: "Ready to merge, according to the records.",
  },
  review: {
    word: "review",
    tone: "human",
    tab: "/diff",
    why: "The author is done. Somebody else has to review it.",
  },
  blocked: { word: "decide", tone: "warn", tab: "" },
  run: { word: "failed run", tone: "bad", tab: "/runs" },
  settle: { word: "settle", tone: "warn", tab: "" },
  missing: { word: "not ready", tone: "plain", tab: "" },
};

function needRow({ kind, task, title, why, who, since }: Need, now: number): Html {
  const { word, tone, tab, why: said } = NEEDS[kind];
  return row({
    task,
    title,
    why:
      said ??
      why
        .replace(/^blocked: /, "")
        .replaceAll("`", "")
        .replace(`${task}/`, "Run ")
        .replace(/^(?:agent|human):([^:\s]+)\S*(?= wrote)/, "$1"),
    tag: tag(word, tone),
    who: `${who} · ${ago(since, now)}`,
    path: `/t/${task}${tab}`,
  });
}

const runningRow = (one: Inbox["running"][number]): Html =>
  row({
    task: one.task,
    title: one.title,
    why: one.waiting ?? (one.last || "Just started."),
    tag: html`<span class="tag ok"><span class="dot run" aria-hidden="true"></span> ${one.state}</span>`,
    who: `${one.agent ?? nameOf(one.holder)}${one.elapsed === undefined ? "" : ` · ${lasted(one.elapsed)}`}`,
    path: `/t/${one.task}/runs/${partOf(one.id)}`,
  });

const WORDS: Readonly<Record<string, string>> = {
  approve: "merged",
  finish: "finished",
  run: "started",
  "review.record": "reviewed",
  handoff: "handed over",
  "task.new": "created",
  start: "started",
};

/** Leaves out a run whose task is listed as well. */
function recentOnce(recent: Inbox["recent"]): Inbox["recent"] {
  const records = recent.map(({ record }) => record.replace(/@\d+$/, ""));
  return recent.filter((_, at) => {
    const [, task] = /^(T\d+)\/R\d+$/.exec(records[at] ?? "") ?? [];
    return task === undefined || !records.includes(task);
  });
}

function recentRow(one: Inbox["recent"][number], now: number): Html {
  const record = one.record.replace(/@\d+$/, "");
  const task = taskOf(record);
  return html`<li data-key="${one.record}" class="small"><a href="${/^T\d+$/.test(task) ? `/t/${task}` : "/log"}"><span class="m">${record}</span><span>${one.about.replace(/^\w+ → \w+ on /, "on ")}</span></a><span class="who"><span class="dim small">${/\/H\d+$/.test(record) ? "handed over" : (WORDS[one.event] ?? one.event)} by ${nameOf(one.actor)} · ${ago(one.time, now)}</span></span></li>`;
}
