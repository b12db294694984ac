import type { Finding } from "../../model/records/parts.ts";
import { plural } from "../../model/text.ts";
import { type Html, html, visible } from "../html.ts";
import { findingCard } from "../views/findings.ts";
import { colourLines, type Piece } from "./colours.ts";
import { placesOf } from "./finding-places.ts";
import type { Row } from "./parse-patch.ts";
import { ROWS_OF_A_PART, type Stretch, stretchesOf } from "./parts.ts";
import { MANY_ROWS, type Rendering, renderRows } from "./render-file.ts";
import type { SavedFile } from "./saved-diff.ts";

/** Files that people do not read: they start folded and show their size. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|Gemfile\.lock|composer\.lock|poetry\.lock|uv\.lock|go\.sum|flake\.lock)$|\.min\.(?:js|css)$|\.map$|(?:^|\/)(?:dist|vendor|node_modules)\/|\.snap$/;

export interface FileSection {
  repo: string;
  /** The saved commit, which a viewed mark records. */
  commit: string;
  file: SavedFile;
  /** The beginning of its anchors, and its address for a browser that loads it later. */
  anchor: string;
  address: string;
  findings: readonly Finding[];
  viewed: boolean;
  /** Old and new side by side. */
  split: boolean;
  /** Lines around the changes can be asked for. */
  kept: boolean;
  /** The browser loads it when it scrolls near. */
  later: boolean;
}

export const rowsOf = (file: SavedFile) => file.hunks.reduce((sum, hunk) => sum + hunk.rows.length + 1, 0);

/** One file of a diff: its name, what changed, and its rows, unless it is folded or comes later. */
export function fileSection(section: FileSection): Html {
  const { file, anchor, viewed } = section;
  const id = `${anchor}h`;
  return html`<section class="file" id="${anchor}" aria-labelledby="${id}" data-repo="${section.repo}" data-path="${file.path}" data-digest="${file.digest}" data-commit="${section.commit}"${viewed && html` data-seen`}><header><h3 id="${id}">${nameOf(file)}</h3>${modeOf(file)}<span class="n"><b>+${file.additions}</b> <s>−${file.deletions}</s></span><label><input type="checkbox" name="seen"${viewed && html` checked`} aria-label="Viewed ${file.path}"> <span aria-hidden="true">Viewed</span></label></header>${contentOf(section)}</section>`;
}

const nameOf = (file: SavedFile) =>
  file.path === file.oldPath ? visible(file.path) : html`${visible(file.oldPath)} → ${visible(file.path)}`;

const modeOf = ({ change, oldMode, newMode }: SavedFile) =>
  change === "modified"
    ? oldMode !== undefined &&
      newMode !== undefined &&
      html`<span class="dim small">mode ${oldMode} → ${newMode}</span>`
    : html`<span class="dim small">${change}${newMode === "160000" && " submodule"}</span>`;

function contentOf({ file, anchor, address, findings, later, split, kept }: FileSection): Html {
  const said = file.said !== undefined && html`<p class="quiet">${file.said}</p>`;
  if (file.binary) return html`${said}<p class="quiet">Binary file, not shown.</p>`;
  if (file.hunks.length === 0) return said || html`<p class="quiet">No lines changed.</p>`;
  const rows = rowsOf(file);
  const content = later
    ? laterOf(address, rows)
    : html`${said}${fileRows(file, anchor, findings, { split, more: kept ? moreOf(address) : undefined })}`;
  return GENERATED.test(file.path)
    ? html`<details><summary>Generated, ${rows} lines</summary>${content}</details>`
    : content;
}

/** Placeholders for the rows of a file, one for each part of a large file, until they are loaded. */
function laterOf(address: string, rows: number): Html {
  const parts = rows > MANY_ROWS ? Math.ceil(rows / ROWS_OF_A_PART) : 1;
  const box = (src: string, count: number) =>
    html`<div class="later" data-src="${src}" data-rows="${count}"><a href="${src}">Show ${plural(count, "line")}</a></div>`;
  if (parts === 1) return box(address, rows);
  return html`${Array.from({ length: parts }, (_, part) =>
    box(`${address}&part=${part}`, Math.min(ROWS_OF_A_PART, rows - part * ROWS_OF_A_PART)),
  )}`;
}

/** The addresses from which more lines are loaded: above each hunk, and after the last one. */
export function moreOf(address: string): NonNullable<Rendering["more"]> {
  const [path = "", query = ""] = address.split("?");
  return {
    above: (hunk, upTo) => `${path}/above/${hunk}?${query}&upto=${upTo}`,
    below: (from) => `${path}/below?${query}&from=${from}`,
  };
}

/** The rows of a file with each finding below its line; findings whose line is not shown come first. */
export function fileRows(
  file: SavedFile,
  anchor: string,
  findings: readonly Finding[],
  { split, more, part }: Pick<Rendering, "split" | "more"> & { part?: number | undefined },
): Html {
  const stretches = stretchesOf(file, part);
  const { below, elsewhere } = placesOf(findings, file);
  const note = (side: "old" | "new", line: number) => {
    const found = side === "new" ? below.get(line) : undefined;
    return found && html`<tr class="note"><td colspan="${split ? 4 : 3}">${found.map(findingCard)}</td></tr>`;
  };
  return html`${!part && elsewhere.map((one) => html`<div class="moved"><p class="dim small">${one.line === undefined ? "About the whole file:" : `Was at line ${one.line}, which this diff no longer shows:`}</p>${findingCard(one)}</div>`)}${renderRows(file, { anchor, colours: coloursOf(file, stretches), below: note, split, more }, stretches)}`;
}

/** Coloured per hunk and per side, because a patch holds no more of the file. */
function coloursOf(file: SavedFile, stretches: readonly Stretch[]) {
  const side = (of: "old" | "new", skip: Row["sign"], path: string) => {
    const lines = new Map<number, readonly Piece[]>();
    for (const stretch of stretches) {
      const rows = stretch.rows.filter((row) => row.sign !== skip);
      const coloured = colourLines(
        path,
        rows.map((row) => row.text),
      );
      if (!coloured) return undefined;
      for (const [at, row] of rows.entries()) lines.set(row[of] ?? 0, coloured[at] ?? []);
    }
    return lines;
  };
  return { old: side("old", "+", file.oldPath), new: side("new", "-", file.path) };
}
