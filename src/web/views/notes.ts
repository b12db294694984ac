import { nameOf } from "../../model/actor.ts";
import { noteList } from "../../ops/note-list.ts";
import { page } from "../exchange.ts";
import { html } from "../html.ts";
import { empty, layout, tag } from "../layout.ts";
import { markdown } from "../markdown.ts";
import { clock } from "../times.ts";
import { noticeOf } from "./notice.ts";
import type { View } from "./view.ts";

export const notes: View = async (look) => {
  const { data } = await look.ask(noteList, {});
  const main = html`<div class="title"><h1>Notes</h1><span class="sp"></span><a class="btn" href="/new/note">New note…</a></div>${noticeOf(look)}${data.notes.length === 0 ? empty("No notes yet. Keep what belongs to no single task here:", 'pawl note add "How releases are made"') : data.notes.map((one) => html`<article class="card" id="${one.id}"><header><b>${one.id}</b> <b>${one.title}</b>${one.kind === "decision" && tag("decision")}${one.labels.map((label) => tag(label))}<span>${nameOf(one.actor)}, ${clock(one.updated)}</span></header>${markdown(one.text)}${one.why !== "" && html`<p><b>Why:</b></p>${markdown(one.why)}`}</article>`)}`;
  return page(layout({ title: "Notes", section: "notes", command: "pawl note list", main, kind: "narrow" }));
};
