import { SEVERITIES } from "../../model/records/parts.ts";
import type { SavedRepo } from "../diff/saved-diff.ts";
import { type Html, html } from "../html.ts";
import type { Recorded } from "./task-shell.ts";

const VERDICTS = [
  ["pass", "Pass", "nothing of it has to change"],
  ["pass_with_findings", "Pass with findings", "what was found can wait, or is small"],
  ["fail", "Fail", "what was found has to be settled first"],
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
<p>Your findings and one verdict are recorded in one step, for exactly the commits shown here. Looked at, as recorded: the <b id="looked">${seen} of ${total}</b> files that you marked as viewed.</p>
<ol id="drafts"></ol>
<form method="post" action="/t/${task.id}/review" id="verdict" data-form="/t/${task.id}/review"><input type="hidden" name="heads" value="${heads}"><input type="hidden" name="findings" value="[]">
<fieldset><legend>Verdict</legend>${VERDICTS.map(([value, word, means], at) => html`<label><input type="radio" name="verdict" value="${value}" required${at === 0 && html` checked`}> <b>${word}</b> <span class="dim">${means}</span></label>`)}</fieldset>
<p class="field"><label for="summary"><b>What it rests on</b> <span class="dim">in a sentence, if you like</span></label><textarea id="summary" name="summary" rows="3" data-keep></textarea></p>
<p class="row"><button class="btn go">Record the review</button> <a class="btn" href="/t/${task.id}/do/finding">A finding about no line…</a></p></form></section>
<template id="draft-form"><tr class="note draft"><td><div class="card" role="group" aria-label="A finding of yours"><header><b>New finding</b> <code class="where"></code><span class="sp"></span><label>Severity <select>${SEVERITIES.map((one) => html`<option>${one}</option>`)}</select></label></header><textarea rows="3" aria-label="What is wrong and why it matters" placeholder="What is wrong, and why it matters"></textarea><p class="acts"><button type="button" class="done">Keep</button><button type="button" class="remove">Remove</button><span class="dim small">Goes with your review; <kbd>Ctrl</kbd> <kbd>Enter</kbd> goes back to the line</span></p></div></td></tr></template>`;
}

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [["j", "k"], "next, previous line"],
  [["⇧↓", "⇧↑"], "choose several lines"],
  [["n", "p"], "next, previous change"],
  [["J", "K"], "next, previous file"],
  [["]"], "next file that is not viewed"],
  [["e"], "more lines around this change"],
  [["c"], "a finding on the chosen lines"],
  [["v"], "viewed, and on to the next file"],
  [["f"], "finish the review"],
  [["u"], "unified or split"],
  [["w"], "with or without white space"],
  [["s"], "only what changed since your last look"],
  [["a"], "approve"],
  [["."], "copy the command of this page"],
  [["/"], "search"],
  [["?"], "this list"],
];

/** What stays in sight: how much is not sent yet, and the keys. */
export const reviewFoot = (
  isLatest: boolean,
): Html => html`<div class="foot" role="region" aria-label="Review"><span id="unsent"></span>${isLatest && html`<a class="btn" href="#finish">Finish review…</a>`}<span class="sp"></span><span class="keys" aria-hidden="true"><span><kbd>j</kbd> <kbd>k</kbd> line</span><span><kbd>J</kbd> <kbd>K</kbd> file</span><span><kbd>v</kbd> viewed</span><span><kbd>c</kbd> finding</span><span><kbd>?</kbd> all keys</span></span></div>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>${KEYS.map(([keys, does]) => html`<dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${does}</dd>`)}</dl><p class="dim small">With the mouse: a line's number opens a finding, a drag or Shift chooses several.</p><form method="dialog"><button>Close</button></form></dialog>`;
