import type { Reason } from "../../judge/gates/gate.ts";
import { nameOf } from "../../model/actor.ts";
import { partOf } from "../../model/ids.ts";
import { ENDED } from "../../model/lifecycle.ts";
import type { Finding } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import { session } from "../../ops/session.ts";
import { taskShow } from "../../ops/task-show.ts";
import type { Answered } from "../ask.ts";
import { page, type Response } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { layout, mono, tag } from "../layout.ts";
import { clock } from "../times.ts";
import { button, sentence } from "./awaited.ts";
import { noticeOf } from "./notice.ts";
import { taskMenu } from "./task-menu.ts";
import type { Look } from "./view.ts";

/** Everything that is recorded of a task, and what keeps it from going on. */
export interface Shown {
  all: Answered<Recorded>["data"];
  gates: { stage: string; reasons: readonly Reason[] } | undefined;
}

export type Recorded = Parameters<typeof taskShow.text>[0];

export async function showTask({ ask, parts }: Look): Promise<Shown> {
  const { data: all } = await ask(taskShow, { task: parts.task });
  const { data } = await ask(session, { task: parts.task });
  return { all, gates: "gates" in data.session ? data.session.gates : undefined };
}

const TABS = [
  ["", "Overview"],
  ["diff", "Diff"],
  ["findings", "Findings"],
  ["evidence", "Evidence"],
  ["runs", "Runs"],
  ["lanes", "Lanes"],
  ["mail", "Mail"],
  ["context", "Context"],
  ["handoffs", "Handoffs"],
  ["log", "Log"],
  ["approve", "Approve"],
] as const;

type Tab = (typeof TABS)[number][0];

interface Frame {
  tab: Tab;
  command: string;
  content: Html;
  foot?: Html;
}

/** One task: who has to do what, the gates with their facts, the tabs, and the content of one of them. */
export function taskPage(look: Look, shown: Shown, { tab, command, content, foot }: Frame): Response {
  const { parts, project } = look;
  const { task } = shown.all;
  const name = TABS.find(([id]) => id === tab)?.[1] ?? "";
  const main = html`<div class="head"><p class="crumb"><a href="/">${project}</a> / <a href="/tasks">tasks</a></p>
<div class="title"><h1><span class="id">${task.id}</span> ${task.title}</h1><span id="status" data-live>${tag(task.status, toneOf(task.status))}</span><span class="sp"></span>${taskMenu(shown.all)}</div>
${noticeOf(look)}${facts(shown)}${awaited(shown)}
<nav class="tabs" id="tabs" data-live aria-label="Task">${TABS.map(([id, word]) => html`<a href="/t/${task.id}${id && `/${id}`}"${id === tab && html` aria-current="page"`}${id === "approve" && html` data-press="a"`}>${word}${count(id, shown)}</a>`)}</nav></div>
${content}`;
  return page(
    layout({
      title: `${task.id} ${task.title} · ${name}`,
      section: "tasks",
      command: command.replace("{task}", parts.task ?? ""),
      main,
      kind: "wide",
      foot,
      task: task.id,
    }),
  );
}

export function toneOf(status: string): "ok" | "bad" | "warn" | "human" | "plain" {
  if (["merged", "done", "integrated", "fixed", "succeeded", "active", "running", "pass"].includes(status))
    return "ok";
  if (["blocked", "failed", "high", "fail"].includes(status)) return "bad";
  if (["interrupted", "medium", "open finding", "deferred", "pass_with_findings"].includes(status))
    return "warn";
  return status === "review" ? "human" : "plain";
}

function facts({ all: { task, runs } }: Shown): Html {
  const latest = runs.at(-1);
  return html`<div class="facts">${task.base_branch !== undefined && html`<span>base ${mono(task.base_branch)}</span>`}${latest?.repos[0] && html`<span>branch ${mono(latest.repos[0].branch)}</span>`}<span>profile <b>${task.profile}</b></span>${latest && html`<span>run <b>${partOf(latest.id)}</b> ${runWords(latest)}</span>`}${task.repos.length > 1 && html`<span>in ${task.repos.join(", ")}</span>`}</div>`;
}

const runWords = (run: Run) =>
  `${run.agent ?? nameOf(run.holder)}, ${run.ended ?? run.status}, ${clock(run.updated)}`;

/** The one sentence that says what is awaited from whom, what one could do about it, and every fact behind it as a link. */
function awaited({ all, gates }: Shown): Html {
  const { what, how, acts } = sentence(all, gates?.reasons ?? []);
  return html`<section class="need" id="need" data-live aria-labelledby="awaited"><div class="say"><h2 id="awaited">${what}</h2><p>${how}</p></div><div class="acts">${acts.map(button)}</div>
<ul class="gates" aria-label="What the close stage asks for">${gateList(all, isOver(all) ? [] : (gates?.reasons ?? []))}</ul></section>`;
}

/** Nothing more is required of it. */
const isOver = ({ task }: Recorded) => ENDED.includes(task.status);

interface Gate {
  name: string;
  tab: Tab;
  codes: RegExp;
  /** What is recorded for it; empty if nothing is. */
  fact(all: Recorded): string;
}

const GATES: readonly Gate[] = [
  {
    name: "Checks",
    tab: "evidence",
    codes: /^check_|^slice_/,
    fact: (all) => (all.evidence.length === 0 ? "" : plural(all.evidence.length, "result")),
  },
  {
    name: "Review",
    tab: "findings",
    codes: /^review_|^plan_/,
    fact: (all) => (all.reviews.at(-1)?.verdict ?? "").replaceAll("_", " "),
  },
  {
    name: "Findings",
    tab: "findings",
    codes: /finding|fix_/,
    fact: ({ findings }) =>
      openOf(findings) > 0 ? `${openOf(findings)} open` : findings.length > 0 ? "settled" : "",
  },
  {
    name: "Handoff",
    tab: "handoffs",
    codes: /handoff/,
    fact: (all) => partOf(all.handoffs.at(-1)?.id ?? ""),
  },
  {
    name: "Saved",
    tab: "diff",
    codes: /snapshot|dirty|no_changes|branch_missing|worktree|not_started|on_protected/,
    fact: (all) => savedOf(all.runs),
  },
  {
    name: "Base",
    tab: "approve",
    codes: /^base_|^target_|unmergeable|surfaces|dependency|record_/,
    fact: (all) => all.task.base_branch ?? "",
  },
];

const filesOf = (runs: readonly Run[]) => {
  const saved = runs.findLast((run) => run.snapshots.length > 0)?.snapshots ?? [];
  const files = saved.reduce((sum, one) => sum + one.files, 0);
  return files === 0 ? "" : plural(files, "file");
};
const openOf = (findings: readonly Finding[]) => findings.filter((one) => one.status === "open").length;
const savedOf = (runs: readonly Run[]) => {
  const saved = runs.findLast((run) => run.snapshots.length > 0);
  return saved ? `${partOf(saved.id)}, ${clock(saved.updated).slice(11)}` : "";
};

function gateList(all: Recorded, reasons: readonly Reason[]): Html[] {
  return GATES.map(({ name, tab, codes, fact }) => {
    const wrong = reasons.some((reason) => codes.test(reason.code));
    // No tick where nothing is recorded or nobody has started: it would promise too much.
    const isRight = all.runs.length > 0 && fact(all) !== "";
    const [tone, sign] = wrong ? ["x", "!"] : isRight ? ["g", "✓"] : ["n", "–"];
    return html`<li><a href="/t/${all.task.id}/${tab}"><b class="${tone}">${sign} ${name}</b><span>${fact(all) || "none"}</span></a></li>`;
  });
}

const unreadOf = ({ mail }: Recorded) => {
  const unread = mail.filter((one) => one.status === "open").length;
  return unread > 0 ? `${unread} unread` : String(mail.length || "");
};

function count(tab: Tab, { all }: Shown): Html | undefined {
  const counts: Partial<Record<Tab, string>> = {
    findings: openOf(all.findings) > 0 ? `${openOf(all.findings)} open` : String(all.findings.length || ""),
    evidence: String(all.evidence.length || ""),
    diff: filesOf(all.runs),
    runs: String(all.runs.length || ""),
    handoffs: String(all.handoffs.length || ""),
    mail: unreadOf(all),
  };
  return counts[tab] ? html`<i>${counts[tab]}</i>` : undefined;
}
