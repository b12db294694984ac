import { partOf } from "../../model/ids.ts";
import { plural } from "../../model/text.ts";
import { diffViewed } from "../../ops/diff-viewed.ts";
import { fileSection, rowsOf } from "../diff/file-section.ts";
import { type Looked, lookedAt } from "../diff/looked.ts";
import { inOtherLight } from "../diff/other-light.ts";
import { queryOf, type Wish, wishOf } from "../diff/reading.ts";
import { type SavedFile, type SavedRepo, savedDiff } from "../diff/saved-diff.ts";
import type { Response } from "../exchange.ts";
import { type Html, html, visible } from "../html.ts";
import { empty, short } from "../layout.ts";
import { diffTools } from "./diff-tools.ts";
import { finishForm, reviewFoot } from "./finish-review.ts";
import { type Shown, showTask, taskPage } from "./task-shell.ts";
import type { Look, View } from "./view.ts";

/** Up to this many rows the whole diff is in the page, so that the browser's own search finds everything. */
const ALL_AT_ONCE = 3_000;

/** What one reader asked to see, and what they have seen. */
interface Reading {
  wish: Wish;
  looked: Looked;
  later: boolean;
}

export const diffView: View = async (look) => {
  const shown = await showTask(look);
  if (shown.all.runs.every((run) => run.snapshots.length === 0)) return nothingSaved(look, shown);
  const wish = wishOf(look.request.query);
  const { repos, looked } = await readDiff(look, wish);
  const files = repos.flatMap((repo) => repo.files.map((file) => ({ repo: repo.repo, file })));
  const isShown = (repo: string, file: SavedFile) => !wish.sinceLook || !looked.isViewed(repo, file);
  const rows = files
    .filter(({ repo, file }) => isShown(repo, file))
    .reduce((sum, { file }) => sum + rowsOf(file), 0);
  const reading: Reading = { wish, looked, later: rows > ALL_AT_ONCE };
  const seen = files.filter(({ repo, file }) => looked.isViewed(repo, file)).length;
  const changed = files.filter(({ repo, file }) => looked.before(repo, file)).length + looked.gone.length;
  const isLatest = wish.run === undefined;
  const content = html`<div class="work">${tree(repos, shown, looked, seen, files.length)}
<section id="diff" tabindex="-1" aria-label="Diff" data-task="${shown.all.task.id}" data-saved="${repos.map((one) => one.patch).join(" ")}">${diffTools(repos, shown.all.runs, wish, { changed, rows, later: reading.later })}
${wish.sinceLook && sinceWords(looked, changed)}${repos.map((repo, at) => repoSection(repo, at, shown, reading, isShown))}
${isLatest && finishForm(shown.all, repos, seen, files.length)}</section></div>`;
  const flags = `${isLatest ? "" : ` --run ${wish.run}`}${wish.ignoreSpace ? " --ignore-space" : ""}`;
  return taskPage(look, shown, {
    tab: "diff",
    command: `pawl diff {task}${flags}`,
    content,
    foot: reviewFoot(isLatest),
  });
};

/** Nobody has begun, or nobody has saved what they did. */
function nothingSaved(look: Look, shown: Shown): Response {
  const { task, runs } = shown.all;
  const words =
    runs.length === 0
      ? empty(
          "No diff yet. It appears here once somebody works on this task:",
          `pawl run ${task.id} --agent claude`,
        )
      : empty(
          "No diff yet. It appears here when the run ends, or as soon as somebody saves it:",
          `pawl snapshot ${task.id}`,
        );
  return taskPage(look, shown, {
    tab: "diff",
    command: "pawl diff {task}",
    content: html`<div class="narrow">${words}</div>`,
  });
}

/** The saved diff in the light that was asked for, and what this reader has looked at. */
export async function readDiff({ ask, parts: { task } }: Look, wish: Wish) {
  const saved = await savedDiff(ask, task, wish.run);
  const { data } = await ask(diffViewed, { task });
  const looked = lookedAt(data.viewed, saved);
  return { looked, repos: await inOtherLight(ask, task, saved, wish, looked) };
}

function sinceWords({ gone }: Looked, changed: number): Html {
  const left = gone.map(({ repo, path }) => html`<li><b>${repo}</b> <code>${path}</code></li>`);
  return html`<div class="quiet">${changed === 0 ? "Nothing changed since you looked. Files you have not viewed yet are below." : "Changes since you viewed these files, and files you have not viewed yet."}${left.length > 0 && html` No longer part of the change:<ul>${left}</ul>`}</div>`;
}

const countsOf = ({ files }: SavedRepo) => {
  const sum = (of: "additions" | "deletions") => files.reduce((all, file) => all + file[of], 0);
  return `${plural(files.length, "file")}, +${sum("additions")} −${sum("deletions")}`;
};

const anchorOf = (repo: number, file: number) => `f${repo + 1}-${file + 1}-`;

function repoSection(
  repo: SavedRepo,
  at: number,
  { all }: Shown,
  { wish, looked, later }: Reading,
  isShown: (repo: string, file: SavedFile) => boolean,
): Html {
  const query = queryOf(wish);
  query.set("at", String(at));
  return html`<div class="repo"><h2>${repo.repo}</h2><span class="m">${short(repo.base)} → ${short(repo.head)}</span><span class="dim">${countsOf(repo)}</span></div>${repo.files.map(
    (file, index) =>
      isShown(repo.repo, file) &&
      fileSection({
        repo: repo.repo,
        commit: repo.commit,
        file,
        split: wish.split,
        kept: repo.kept,
        anchor: anchorOf(at, index),
        address: `/t/${all.task.id}/diff/${encodeURIComponent(repo.repo)}/${index}?${query}`,
        findings: findingsOf(all.findings, repo.repo, file),
        viewed: looked.isViewed(repo.repo, file),
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
  { isViewed, before }: Looked,
  seen: number,
  total: number,
): Html {
  return html`<nav class="tree" aria-label="Changed files"><details open><summary>Changed files</summary><p class="dim seenof"><span id="seen-of">${seen} of ${total} viewed</span></p><progress id="seen" value="${seen}" max="${total}" aria-label="Viewed files"></progress>${repos.map(
    (repo, at) =>
      html`<h3>${repo.repo} <span>${countsOf(repo)}</span></h3><ul>${repo.files.map((file, index) => {
        const open = findingsOf(all.findings, repo.repo, file).filter((one) => one.status === "open");
        return html`<li${isViewed(repo.repo, file) && html` class="seen"`}><a href="#${anchorOf(at, index)}"><span aria-hidden="true">${isViewed(repo.repo, file) ? "✓" : "○"}</span><span class="p"><bdi>${visible(file.path)}</bdi></span>${before(repo.repo, file) && html`<span class="f">changed</span>`}${open.length > 0 && html`<span class="f">${open.map((one) => partOf(one.id)).join(" ")}</span>`}<span class="c">+${file.additions} −${file.deletions}</span></a></li>`;
      })}</ul>`,
  )}</details></nav>`;
}
