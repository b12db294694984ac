import { Failure } from "../../model/failure.ts";
import { page, type Response } from "../exchange.ts";
import { html } from "../html.ts";
import { layout } from "../layout.ts";
import { inline } from "../markdown.ts";

const STATUS: Readonly<Record<string, number>> = {
  usage: 400,
  refused: 409,
  not_found: 404,
  conflict: 409,
  unreadable: 500,
};

const ALL_TASKS = { word: "All tasks", path: "/" };

export const statusOf = (error: Failure) => STATUS[error.kind] ?? 500;

/** A refusal reads as it does on a command line: what is true, and the one thing that helps. */
export function problem(error: unknown, command = "pawl", back = ALL_TASKS): Response {
  if (!(error instanceof Failure)) throw error;
  const main = html`<div class="title"><h1>${error.kind === "not_found" ? "Not found" : "Not done"}</h1></div>
<section class="need"><div class="say"><h2>${error.message}</h2>${error.hint !== undefined && html`<p>${inline(error.hint)}</p>`}</div></section>
<p class="row"><a class="btn" href="${back.path}">${back.word}</a></p>`;
  return page(layout({ title: error.message, command, main, kind: "narrow" }), statusOf(error));
}
