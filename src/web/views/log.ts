import { nameOf } from "../../model/actor.ts";
import { plural } from "../../model/text.ts";
import { log } from "../../ops/log.ts";
import type { LoggedEvent } from "../../ports/ports.ts";
import { page } from "../exchange.ts";
import { type Html, html } from "../html.ts";
import { empty, layout } from "../layout.ts";
import { clock } from "../times.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

const LATEST = 200;

export const taskLog: View = async (look) => {
  const shown = await showTask(look);
  const { data } = await look.ask(log, { task: look.parts.task, limit: LATEST });
  return taskPage(look, shown, {
    tab: "log",
    command: "pawl log {task}",
    content: html`<div class="narrow">${table(data.events)}</div>`,
  });
};

export const wholeLog: View = async ({ ask }) => {
  const { data } = await ask(log, { limit: LATEST });
  const main = html`<div class="title"><h1>Log</h1><span class="dim">the latest ${plural(data.events.length, "event")}, newest first</span></div>${table(data.events)}`;
  return page(layout({ title: "Log", section: "log", command: "pawl log", main, kind: "home" }));
};

function table(events: readonly LoggedEvent[]): Html {
  if (events.length === 0) return empty("Nothing has happened yet.");
  return html`<table class="sum"><caption class="vh">What happened, newest first</caption><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Record</th><th scope="col">About</th><th scope="col">By</th></tr></thead><tbody id="events" data-live="rows">${events.toReversed().map((one) => html`<tr data-key="${one.time} ${one.record} ${one.event} ${one.phase}"><td class="m">${clock(one.time)}</td><td>${one.event}${one.phase && ` ${one.phase}`}</td><td>${recordLink(one)}</td><td class="about">${one.about}</td><td class="dim" title="${one.actor}">${nameOf(one.actor)}${one.how === "web" && ", on the page"}</td></tr>`)}</tbody></table>`;
}

const recordLink = ({ record, task }: LoggedEvent) =>
  task === undefined
    ? html`<span class="m">${record}</span>`
    : html`<a class="m" href="/t/${task}">${record}</a>`;
