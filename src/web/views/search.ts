import { partOf } from "../../model/ids.ts";
import { quoted } from "../../model/text.ts";
import { search } from "../../ops/search.ts";
import { page } from "../exchange.ts";
import { html, visible } from "../html.ts";
import { empty, layout, tag } from "../layout.ts";
import { toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

export const searchView: View = async ({ ask, request }) => {
  const words = request.query.get("q")?.trim() ?? "";
  const found = words === "" ? undefined : await ask(search, { words: [words], limit: 50 });
  const hits = found?.data.hits ?? [];
  const main = html`<div class="title"><h1>Search</h1>${found && html`<span class="dim">${found.data.total} found</span>`}</div>
<form action="/search" role="search" aria-label="Search everything" class="row"><label class="vh" for="words">Words</label><input id="words" name="q" value="${words}" size="48" placeholder="Words that all have to be there"><button>Search</button></form>
${!found && empty("Search goes through every task, finding, decision, handoff and note, including those of merged tasks:", 'pawl search "retry after"')}${found && (hits.length === 0 ? empty(`Nothing has all of these words: ${words}`) : html`<ul class="list">${hits.map((hit) => html`<li><a href="${pathOf(hit.id, hit.task)}"><span class="m">${hit.id}</span><b>${hit.title.replaceAll("`", "")}</b><span class="why">${visible(hit.snippet.replaceAll(/\*\*|`/g, ""))}</span></a><span class="who">${hit.status !== null && tag(hit.status, toneOf(hit.status))}<span class="dim small">${hit.kind}</span></span></li>`)}</ul>`)}`;
  return page(
    layout({
      title: "Search",
      section: "search",
      command: `pawl search ${quoted(words || "words")}`,
      main,
      kind: "home",
    }),
  );
};

const TABS: Readonly<Record<string, string>> = {
  F: "findings",
  E: "evidence",
  H: "handoffs",
  L: "lanes",
  M: "mail",
  R: "runs",
};

/** Where a record is shown. */
function pathOf(id: string, task: string | null): string {
  if (task === null) return `/notes#${id}`;
  const part = id === task ? "" : partOf(id);
  const tab = TABS[part[0] ?? ""] ?? "";
  return `/t/${task}${tab && `/${tab}`}${part && `#${part}`}`;
}
