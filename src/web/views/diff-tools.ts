import { partOf } from "../../model/ids.ts";
import type { Run } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import { queryOf, type Wish } from "../diff/reading.ts";
import type { SavedRepo } from "../diff/saved-diff.ts";
import { type Html, html } from "../html.ts";
import { clock } from "../times.ts";

interface Counted {
  /** Files that were looked at, and changed since or left the change. */
  changed: number;
  rows: number;
  later: boolean;
}

/** What is shown, and every other way to look at it, as links. */
export function diffTools(
  [first]: readonly SavedRepo[],
  runs: readonly Run[],
  wish: Wish,
  { changed, rows, later }: Counted,
): Html {
  const to = (change: Partial<Wish>) => `?${queryOf({ ...wish, ...change })}`;
  const saved = runs.filter((run) => run.snapshots.length > 0).map((run) => partOf(run.id));
  const shown = partOf(first?.run ?? "");
  const run =
    saved.length > 1
      ? choice(
          "Run",
          saved.map((id) => [id, to({ run: id === saved.at(-1) ? undefined : id }), id === shown]),
        )
      : html`<b>${shown}</b>`;
  return html`<div class="tools">${run}<span class="wide">${first && html`saved ${clock(first.saved)}`}</span>${sinceLink(wish, changed, to)}<span class="sp"></span>${later && html`<button type="button" id="load-all">Load all ${rows} lines</button>`}${choice(
    "White space",
    [
      ["All changes", to({ ignoreSpace: false }), !wish.ignoreSpace],
      ["Ignore white space", to({ ignoreSpace: true }), wish.ignoreSpace],
    ],
    "w",
  )}${choice(
    "How to show it",
    [
      ["Unified", to({ split: false }), !wish.split],
      ["Split", to({ split: true }), wish.split],
    ],
    "u",
  )}</div>`;
}

function sinceLink({ sinceLook }: Wish, changed: number, to: (change: Partial<Wish>) => string): Html {
  if (sinceLook)
    return html`<span class="since">Since your last look. <a href="${to({ sinceLook: false })}" data-press="s">Show everything</a></span>`;
  return changed > 0
    ? html`<span class="since"><a href="${to({ sinceLook: true })}" data-press="s">${plural(changed, "file")} changed since your last look</a></span>`
    : html``;
}

/** One of a few; the key goes to the next one that is not current. */
function choice(name: string, all: readonly (readonly [string, string, boolean])[], key?: string): Html {
  const next = all.find(([, , isCurrent]) => !isCurrent);
  return html`<span class="seg${key !== undefined && " wide"}" role="group" aria-label="${name}">${all.map((one) => html`<a href="${one[1]}"${one[2] && html` aria-current="true"`}${key !== undefined && one === next && html` data-press="${key}"`}>${one[0]}</a>`)}</span>`;
}
