import { senderName } from "../../judge/mail.ts";
import { nameOf } from "../../model/actor.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { mailList } from "../../ops/mail-list.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { layout, tag } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

/** All unread mail; messages for the person at the page come first. */
export const mail: View = async ({ ask }) => {
  const { data } = await ask(mailList, {});
  const [yours, others] = [data.mail.filter(isYours), data.mail.filter((one) => !isYours(one))];
  const main = html`<div class="title"><h1>Mail</h1></div>
<p class="dim">Messages between agents and people. Agents read theirs when they start, resume or are about to stop; nobody is interrupted.</p>
<div id="mail" data-live="rows">${data.mail.length === 0 ? html`<p class="empty">No unread mail. Leave a message for whoever works on a task: <code>pawl mail send T0001 "The API key is in the vault now"</code></p>` : html`${section("For you", yours)}${section("For others", others)}`}</div>`;
  return page(layout({ title: "Mail", section: "mail", command: "pawl mail list", main, kind: "narrow" }));
};

/** All messages of one task, read ones included. */
export const taskMail: View = async (look) => {
  const shown = await showTask(look);
  const { id } = shown.all.task;
  const { data } = await look.ask(mailList, { task: id, all: true });
  const content = html`<div class="narrow"><p class="row"><a class="btn" href="/t/${id}/do/mail?to=${id}">Send a message…</a></p>
<div id="mail" data-live="rows">${data.mail.length === 0 ? html`<p class="empty">No messages yet. Whoever works on this task reads them when they start, resume or are about to stop: <code>pawl mail send ${id} "The API key is in the vault now"</code></p>` : data.mail.toReversed().map(card)}</div></div>`;
  return taskPage(look, shown, { tab: "mail", command: "pawl mail list {task} --all", content });
};

type Listed = Parameters<typeof mailList.text>[0]["mail"][number];

const isYours = ({ to }: Listed) => to === "human";

const section = (title: string, all: readonly Listed[]): Html | undefined =>
  all.length === 0 ? undefined : html`<section class="prose"><h2>${title}</h2>${all.map(card)}</section>`;

function card(one: Listed): Html {
  const [task, id] = [taskOf(one.id), partOf(one.id)];
  const to = (action: string, query: Record<string, string>) =>
    `/t/${task}/do/${action}?${new URLSearchParams(query)}`;
  const state = one.overtaken_by === undefined ? one.status : `overtaken by ${one.overtaken_by}`;
  const steps = [
    one.status === "open" &&
      html`<a class="btn" href="${to("mail-read", { message: id })}">Mark as read…</a>`,
    one.status !== "closed" && html`<a class="btn" href="${to("mail-close", { message: id })}">Close…</a>`,
  ];
  return html`<article class="card" id="${id}" data-key="${one.id} ${state}"><header><a href="/t/${task}/mail"><b>${one.id}</b></a>${tag(state, one.status === "open" && isYours(one) ? "human" : "plain")}<span>${nameOf(senderName(one))} to ${isYours(one) ? "you" : one.to}${one.run !== undefined && `, about ${one.run}`}, ${clock(one.created)}</span></header>${markdown(one.text)}<p class="acts"><a class="btn" href="${to("mail", { to: one.from_run ?? task })}">Answer…</a>${steps}</p></article>`;
}
