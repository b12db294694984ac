import { SEVERITIES } from "../../model/records/parts.ts";
import type { SavedRepo } from "../diff/saved-diff.ts";
import { type Html, html } from "../html.ts";
import type { Recorded } from "./task-shell.ts";

const VERDICTS = [
  ["pass", "Pass", "nothing has to change"],
  ["pass_with_findings", "Pass with findings", "the findings are small or can wait"],
  ["fail", "Fail", "the findings must be settled first"],
] as const;

/** The verdict, for everything that was found; what was looked at and which commits go along by themselves. */
export function finishForm(
  { task }: Recorded,
  repos: readonly SavedRepo[],
  seen: number,
  total: number,
): Html {
  const heads = repos.map((one) => `${one.repo}@${one.head}`).join("\n");
  return html`<section class="card finish" id="finish" aria-labelledby="finish-title"><h2 id="finish-title">Finish the review</h2>
<p>Your findings and one verdict are recorded together, for exactly the commits shown here. The review also records what you looked at: <b id="looked">${seen} of ${total}</b> files marked as viewed.</p>
<ol id="drafts"></ol>
<form method="post" action="/t/${task.id}/review" id="verdict" data-form="/t/${task.id}/review"><input type="hidden" name="heads" value="${heads}"><input type="hidden" name="findings" value="[]">
<fieldset><legend>Verdict</legend>${VERDICTS.map(([value, word, means]) => html`<label><input type="radio" name="verdict" value="${value}" required> <b>${word}</b> <span class="dim">${means}</span></label>`)}</fieldset>
<p class="field"><label for="summary"><b>Summary</b> <span class="dim">optional</span></label><textarea id="summary" name="summary" rows="3" data-keep></textarea></p>
<p class="row"><button class="btn go">Record the review</button> <a class="btn" href="/t/${task.id}/do/finding">Add a general finding…</a></p></form></section>
<template id="draft-form"><tr class="note draft"><td><div class="card" role="group" aria-label="A finding of yours"><header><b>New finding</b> <code class="where"></code><span class="sp"></span><label>Severity <select>${SEVERITIES.map((one) => html`<option>${one}</option>`)}</select></label></header><textarea rows="3" aria-label="What is wrong and why it matters" placeholder="What is wrong, and why it matters"></textarea><p class="acts"><button type="button" class="done">Keep</button><button type="button" class="remove">Remove</button><span class="dim small">Sent with your review; <kbd>Ctrl</kbd> <kbd>Enter</kbd> returns to the line</span></p></div></td></tr></template>`;
}

/** What stays in sight: how much is not sent yet, and the keys. */
export const reviewFoot = (isLatest: boolean): Html =>
  html`<div class="foot" role="region" aria-label="Review"><span id="unsent"></span>${isLatest && html`<a class="btn" href="#finish">Finish review…</a>`}<span class="sp"></span><span class="keys" aria-hidden="true"><span><kbd>j</kbd> <kbd>k</kbd> line</span><span><kbd>J</kbd> <kbd>K</kbd> file</span><span><kbd>v</kbd> viewed</span><span><kbd>c</kbd> finding</span><span><kbd>?</kbd> all keys</span></span></div>`;
