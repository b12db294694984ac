import { plural } from "../../model/text.ts";
import { diffViewed } from "../../ops/diff-viewed.ts";
import { fileSection, rowsOf } from "../diff/file-section.ts";
import { type SavedFile, type SavedRepo, savedDiff } from "../diff/saved-diff.ts";
import { type Html, html, visible } from "../html.ts";
import { short } from "../layout.ts";
import { clock } from "../times.ts";
import { type Shown, showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

/** Up to this many rows the whole diff is in the page, so that the browser's own search finds everything. */
const ALL_AT_ONCE = 3_000;

export const diffView: View = async (look) => {
  const shown = await showTask(look);
  const run = look.request.query.get("run") ?? undefined;
  const repos = await savedDiff(look.ask, look.parts.task, run);
  const { data } = await look.ask(diffViewed, { task: look.parts.task });
  const marks = new Set(data.viewed.map(markOf));
  const isViewed = (repo: string, file: SavedFile) => marks.has(markOf({ ...file, repo }));
  const rows = repos.flatMap((repo) => repo.files).reduce((sum, file) => sum + rowsOf(file), 0);
  const first = repos[0];
  const content = html`<div class="work">${tree(repos, shown, isViewed)}
<section id="diff" tabindex="-1" aria-label="Diff" data-task="${shown.all.task.id}"><div class="tools"><span><b>${first?.run.split("/")[1]}</b> ${first && html`<span class="m">${short(first.base)} → ${short(first.head)}</span>, saved ${clock(first.saved)}`}</span><span class="sp"></span>${rows > ALL_AT_ONCE && html`<button type="button" id="load-all">Load all ${rows} rows</button>`}</div>
${repos.map((repo, at) => repoSection(repo, at, shown, { later: rows > ALL_AT_ONCE, run, isViewed }))}</section></div>`;
  return taskPage(look, shown, {
    tab: "diff",
    command: `pawl diff {task}${run === undefined ? "" : ` --run ${run}`}`,
    content,
  });
};

type IsViewed = (repo: string, file: SavedFile) => boolean;

/** A mark is about a file as it was: when its part of the patch changes, the mark means nothing any more. */
const markOf = ({ repo, path, digest }: Pick<SavedFile, "path" | "digest"> & { repo: string }) =>
  `${repo}\0${path}\0${digest}`;

const anchorOf = (repo: number, file: number) => `f${repo + 1}-${file + 1}-`;

function repoSection(
  repo: SavedRepo,
  at: number,
  { all }: Shown,
  { later, run, isViewed }: { later: boolean; run: string | undefined; isViewed: IsViewed },
): Html {
  const task = all.task.id;
  return html`<div class="repo"><h2>${repo.repo}</h2><span class="m">${short(repo.base)} → ${short(repo.head)}</span></div>${repo.files.map(
    (file, index) =>
      fileSection({
        repo: repo.repo,
        file,
        anchor: anchorOf(at, index),
        address: `/t/${task}/diff/${encodeURIComponent(repo.repo)}/${index}?at=${at}${run === undefined ? "" : `&run=${encodeURIComponent(run)}`}`,
        findings: findingsOf(all.findings, repo.repo, file),
        viewed: isViewed(repo.repo, file),
        later,
      }),
  )}`;
}

export const findingsOf = (findings: Shown["all"]["findings"], repo: string, file: SavedFile) =>
  findings.filter((one) => one.file === file.path && (one.repo === undefined || one.repo === repo));

/** The changed files, grouped by repository; open findings and viewed marks beside their names. */
function tree(repos: readonly SavedRepo[], { all }: Shown, isViewed: IsViewed): Html {
  const files = repos.flatMap((repo) => repo.files.map((file) => ({ file, repo: repo.repo })));
  const seen = files.filter(({ file, repo }) => isViewed(repo, file)).length;
  return html`<nav class="tree" aria-label="Changed files"><details open><summary>Changed files</summary><p class="dim seenof"><span id="seen-of">${seen} of ${files.length} viewed</span></p><progress id="seen" value="${seen}" max="${files.length}" aria-label="Viewed files"></progress>${repos.map(
    (repo, at) =>
      html`<h3>${repo.repo} <span>${plural(repo.files.length, "file")}</span></h3><ul>${repo.files.map(
        (file, index) => {
          const open = findingsOf(all.findings, repo.repo, file).filter((one) => one.status === "open");
          return html`<li${isViewed(repo.repo, file) && html` class="seen"`}><a href="#${anchorOf(at, index)}"><span aria-hidden="true">${isViewed(repo.repo, file) ? "✓" : "○"}</span><span class="p"><bdi>${visible(file.path)}</bdi></span>${open.length > 0 && html`<span class="f">${open.map((one) => one.id.split("/")[1]).join(" ")}</span>`}<span class="c">+${file.additions} −${file.deletions}</span></a></li>`;
        },
      )}</ul>`,
  )}</details></nav>`;
}
