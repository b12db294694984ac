import { Failure } from "../../model/failure.ts";
import { diffLines } from "../../ops/diff-lines.ts";
import { taskShow } from "../../ops/task-show.ts";
import { fileRows, moreOf } from "../diff/file-section.ts";
import { renderAbove } from "../diff/render-file.ts";
import { savedDiff } from "../diff/saved-diff.ts";
import { page } from "../exchange.ts";
import { findingsOf } from "./diff.ts";
import type { Look, View } from "./view.ts";

/** The rows of one file, for a page that loads them when they come near. */
export const diffFile: View = async (look) => {
  const { repo, found, anchor, split, more } = await find(look);
  const { data } = await look.ask(taskShow, { task: look.parts.task });
  return page(fileRows(found, anchor, findingsOf(data.findings, repo, found), { split, more }));
};

/** Lines above a hunk that the patch does not have, from the commit that was saved. */
export const linesAbove: View = async (look) => {
  const { ask, parts, request } = look;
  const { repo, run, found, anchor, split, more } = await find(look);
  const { data } = await ask(diffLines, { task: parts.task, repo, path: found.path, ...(run && { run }) });
  const upTo = Number(request.query.get("upto"));
  const colours = { old: undefined, new: undefined };
  const rendering = { anchor, colours, below: () => undefined, split, more };
  return page(renderAbove(found, Number(parts.hunk), upTo, data.lines, rendering));
};

async function find({ ask, parts, request: { query } }: Look) {
  const { task, repo = "", file = "" } = parts;
  const run = query.get("run") ?? undefined;
  const whole = (await savedDiff(ask, task, run)).find((one) => one.repo === repo);
  const found = whole?.files[Number(file)];
  if (!whole || !found)
    throw new Failure("not_found", "no_file", `The saved diff of ${repo} has no file number ${file}.`);
  const at = query.get("at") ?? "0";
  const split = query.get("view") === "split";
  const asked = new URLSearchParams({ at, ...(run && { run }), ...(split && { view: "split" }) });
  const address = `/t/${task}/diff/${encodeURIComponent(repo)}/${file}?${asked}`;
  const more = whole.kept ? moreOf(address) : undefined;
  return { repo, run, found, split, more, anchor: `f${Number(at) + 1}-${Number(file) + 1}-` };
}
