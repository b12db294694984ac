import { plural } from "../../model/text.ts";
import { diffViewed } from "../../ops/diff-viewed.ts";
import { fileSection, rowsOf } from "../diff/file-section.ts";
import { type SavedFile, type SavedRepo, savedDiff } from "../diff/saved-diff.ts";
import { type Html, html, visible } from "../html.ts";
import { short } from "../layout.ts";
import { clock } from "../times.ts";
import { finishForm, reviewFoot } from "./finish-review.ts";
import { type Shown, showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

/** Up to this many rows the whole diff is in the page, so that the browser's own search finds everything. */
const ALL_AT_ONCE = 3_000;

/** What one reader asked to see, and what they have seen. */
interface Reading {
  run: string | undefined;
  split: boolean;
  later: boolean;
  isViewed(repo: string, file: SavedFile): boolean;
}

export const diffView: View = async (look) => {
  const shown = await showTask(look);
  const { query } = look.request;
  const run = query.get("run") ?? undefined;
  const repos = await savedDiff(look.ask, look.parts.task, run);
  const { data } = await look.ask(diffViewed, { task: look.parts.task });
  const marks = new Set(data.viewed.map(markOf));
  const rows = repos.flatMap((repo) => repo.files).reduce((sum, file) => sum + rowsOf(file), 0);
  const reading: Reading = {
    run,
    split: query.get("view") === "split",
    later: rows > ALL_AT_ONCE,
    isViewed: (repo, file) => marks.has(markOf({ ...file, repo })),
  };
  const files = repos.flatMap((repo) => repo.files.map((file) => ({ repo: repo.repo, file })));
  const seen = files.filter(({ repo, file }) => reading.isViewed(repo, file)).length;
  const changed = files.filter(
    ({ repo, file }) =>
      !reading.isViewed(repo, file) && data.viewed.some((one) => one.repo === repo && one.path === file.path),
  );
  const content = html`<div class="work">${tree(repos, shown, reading, seen, files.length)}
<section id="diff" tabindex="-1" aria-label="Diff" data-task="${shown.all.task.id}" data-saved="${repos.map((one) => one.patch).join(" ")}">${tools(repos, reading, rows, changed.length)}
${repos.map((repo, at) => repoSection(repo, at, shown, reading))}
${run === undefined && finishForm(shown.all, repos, seen, files.length)}</section></div>`;
  return taskPage(look, shown, {
    tab: "diff",
    command: `pawl diff {task}${run === undefined ? "" : ` --run ${run}`}`,
    content,
    foot: reviewFoot(run === undefined),
  });
};

function tools(
  [first]: readonly SavedRepo[],
  { run, split, later }: Reading,
  rows: number,
  changed: number,
): Html {
  const at = (view: string) => `?${new URLSearchParams({ ...(run === undefined ? {} : { run }), view })}`;
  return html`<div class="tools"><span><b>${first?.run.split("/")[1]}</b> <span class="wide">${first && html`<span class="m">${short(first.base)} → ${short(first.head)}</span>, saved ${clock(first.saved)}`}</span></span>${changed > 0 && html`<span class="since">changed since you looked: ${plural(changed, "file")}</span>`}<span class="sp"></span>${later && html`<button type="button" id="load-all">Load all ${rows} rows</button>`}<span class="seg wide" role="group" aria-label="How to show it"><a href="${at("unified")}"${!split && html` aria-current="true"`}>Unified</a><a href="${at("split")}"${split && html` aria-current="true"`}>Split</a></span></div>`;
}

/** A mark is about a file as it was: when its part of the patch changes, the mark means nothing any more. */
const markOf = ({ repo, path, digest }: Pick<SavedFile, "path" | "digest"> & { repo: string }) =>
  `${repo}\0${path}\0${digest}`;

const anchorOf = (repo: number, file: number) => `f${repo + 1}-${file + 1}-`;

function repoSection(repo: SavedRepo, at: number, { all }: Shown, reading: Reading): Html {
  const { run, split, later, isViewed } = reading;
  const query = new URLSearchParams({ at: String(at), ...(run && { run }), ...(split && { view: "split" }) });
  return html`<div class="repo"><h2>${repo.repo}</h2><span class="m">${short(repo.base)} → ${short(repo.head)}</span></div>${repo.files.map(
    (file, index) =>
      fileSection({
        repo: repo.repo,
        file,
        split,
        kept: repo.kept,
        anchor: anchorOf(at, index),
        address: `/t/${all.task.id}/diff/${encodeURIComponent(repo.repo)}/${index}?${query}`,
        findings: findingsOf(all.findings, repo.repo, file),
        viewed: isViewed(repo.repo, file),
        later,
      }),
  )}`;
}

export const findingsOf = (findings: Shown["all"]["findings"], repo: string, file: SavedFile) =>
  findings.filter((one) => one.file === file.path && (one.repo === undefined || one.repo === repo));

/** The changed files, grouped by repository; open findings and viewed marks beside their names. */
function tree(
  repos: readonly SavedRepo[],
  { all }: Shown,
  { isViewed }: Reading,
  seen: number,
  total: number,
): Html {
  return html`<nav class="tree" aria-label="Changed files"><details open><summary>Changed files</summary><p class="dim seenof"><span id="seen-of">${seen} of ${total} viewed</span></p><progress id="seen" value="${seen}" max="${total}" aria-label="Viewed files"></progress>${repos.map(
    (repo, at) =>
      html`<h3>${repo.repo} <span>${plural(repo.files.length, "file")}</span></h3><ul>${repo.files.map(
        (file, index) => {
          const open = findingsOf(all.findings, repo.repo, file).filter((one) => one.status === "open");
          return html`<li${isViewed(repo.repo, file) && html` class="seen"`}><a href="#${anchorOf(at, index)}"><span aria-hidden="true">${isViewed(repo.repo, file) ? "✓" : "○"}</span><span class="p"><bdi>${visible(file.path)}</bdi></span>${open.length > 0 && html`<span class="f">${open.map((one) => one.id.split("/")[1]).join(" ")}</span>`}<span class="c">+${file.additions} −${file.deletions}</span></a></li>`;
        },
      )}</ul>`,
  )}</details></nav>`;
}
