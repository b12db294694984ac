import { type Html, html } from "./html.ts";

type Key = readonly [keys: readonly string[], does: string];

const EVERYWHERE: readonly Key[] = [
  [["g", "h"], "go home"],
  [["/"], "search"],
  [["."], "copy this page's command"],
  [["?"], "show this list"],
];

const ON_A_TASK: readonly Key[] = [
  [["g", "d"], "go to the diff"],
  [["a"], "approve"],
];

const ON_THE_DIFF: readonly Key[] = [
  [["j", "k"], "next or previous line"],
  [["⇧↓", "⇧↑"], "select several lines"],
  [["n", "p"], "next or previous change"],
  [["J", "K"], "next or previous file"],
  [["]"], "next file not viewed"],
  [["e"], "show more lines around this change"],
  [["c"], "add a finding on the selected lines"],
  [["v"], "mark as viewed and go to the next file"],
  [["f"], "finish the review"],
  [["u"], "unified or split"],
  [["w"], "show or ignore white-space changes"],
  [["s"], "only what changed since your last look"],
];

/** The list of keys that `?` opens. */
export function keyList(isTask: boolean, isDiff: boolean): Html {
  const keys = [...(isDiff ? ON_THE_DIFF : []), ...(isTask ? ON_A_TASK : []), ...EVERYWHERE];
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>${keys.map(([names, does]) => html`<dt>${names.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${does}</dd>`)}</dl>${isDiff && html`<p class="dim small">With the mouse: click a line number to add a finding; drag or hold Shift to select several lines.</p>`}<form method="dialog"><button>Close</button></form></dialog>`;
}
