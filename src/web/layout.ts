import { type Html, html } from "./html.ts";
import { keyList } from "./keys.ts";

export interface Layout {
  /** What the browser's tab says. */
  title: string;
  /** The part of the page that is current in the bar. */
  section?: "tasks" | "lanes" | "mail" | "findings" | "search" | "audit" | "log" | "notes" | undefined;
  /** The command that shows or does the same on a command line. */
  command: string;
  main: Html;
  /** The width of the page's body. */
  kind: "home" | "narrow" | "wide";
  /** What stays in sight at the bottom. */
  foot?: Html | undefined;
  /** For browsers without a session: no links. */
  outside?: boolean | undefined;
  /** The task that the whole page is about. */
  task?: string | undefined;
}

const SECTIONS = [
  ["tasks", "/", "Tasks"],
  ["lanes", "/lanes", "Lanes"],
  ["mail", "/mail", "Mail"],
  ["findings", "/findings", "Findings"],
  ["search", "/search", "Search"],
  ["audit", "/audit", "Audit"],
  ["log", "/log", "Log"],
  ["notes", "/notes", "Notes"],
] as const;

/** Every page: the bar, the content, and the command that does the same. */
export function layout({ title, section, command, main, kind, foot, task, outside }: Layout): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title} · pawl</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><script src="/theme.js"></script><script type="module" src="/page.js"></script></head><body${task !== undefined && html` data-task="${task}"`}>
<a class="skip" href="#main">Skip to the page</a>
<header class="bar"><a class="logo" href="/">pawl</a>${!outside && ways(section)}</header>
<div class="offer" id="offer" role="status" hidden><span></span> <button type="button">Show</button></div>
<main id="main" tabindex="-1" class="${kind}">${main}</main>
<footer class="cmd"><span>On the command line:</span> <code>${command}</code></footer>
${foot}${!outside && keyList(task !== undefined, foot !== undefined)}</body></html>`;
}

const ways = (section: Layout["section"]): Html =>
  html`<nav aria-label="Main">${SECTIONS.map(([id, path, name]) => html`<a href="${path}"${id === section && html` aria-current="page"`}>${name}</a>`)}</nav><span class="sp"></span><form role="search" action="/search"><label class="vh" for="q">Search</label><input id="q" name="q" placeholder="Search tasks, findings, notes" autocomplete="off"> <kbd aria-hidden="true">/</kbd></form><span class="live" id="live" hidden><span class="dot run" aria-hidden="true"></span> live</span><span class="live" id="lost" role="status" hidden></span><button type="button" class="theme" id="theme" hidden>Theme</button>`;

export const tag = (text: string, tone: "ok" | "bad" | "warn" | "human" | "plain" = "plain") =>
  html`<span class="tag ${tone}">${text}</span>`;

/** A value that somebody may want to copy, such as an id or a commit. */
export const mono = (text: string) => html`<span class="m">${text}</span>`;

export const short = (commit: string | undefined) => commit?.slice(0, 8) ?? "";

/** Shown in place of an empty list; teaches the first command. */
export const empty = (text: string, command?: string) =>
  html`<p class="empty">${text}${command !== undefined && html` <code>${command}</code>`}</p>`;
