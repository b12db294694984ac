import { Failure } from "../../model/failure.ts";
import { diffLines } from "../../ops/diff-lines.ts";
import { taskShow } from "../../ops/task-show.ts";
import { fileRows, moreOf } from "../diff/file-section.ts";
import { queryOf, wishOf } from "../diff/reading.ts";
import { renderAbove, renderBelow } from "../diff/render-file.ts";
import { page } from "../exchange.ts";
import { findingsOf, readDiff } from "./diff.ts";
import type { Look, View } from "./view.ts";

/** The rows of one file, for a page that loads them when they come near. */
export const diffFile: View = async (look) => {
  const { repo, found, anchor, split, more } = await find(look);
  const { data } = await look.ask(taskShow, { task: look.parts.task });
  const asked = look.request.query.get("part");
  const part = asked === null ? undefined : Number(asked);
  return page(fileRows(found, anchor, findingsOf(data.findings, repo, found), { split, more, part }));
};

/** Lines above a hunk that the patch does not have, from the commit that was saved. */
export const linesAbove: View = async (look) => {
  const { parts, request } = look;
  const { found, lines, rendering } = await findLines(look);
  const upTo = Number(request.query.get("upto"));
  return page(renderAbove(found, Number(parts.hunk), upTo, lines, rendering));
};

/** Lines after the last hunk. */
export const linesBelow: View = async (look) => {
  const { found, lines, rendering } = await findLines(look);
  return page(renderBelow(found, Number(look.request.query.get("from")), lines, rendering));
};

async function findLines(look: Look) {
  const { repo, run, found, anchor, split, more } = await find(look);
  const input = { task: look.parts.task, repo, path: found.path, ...(run && { run }) };
  const { data } = await look.ask(diffLines, input);
  const colours = { old: undefined, new: undefined };
  return { found, lines: data.lines, rendering: { anchor, colours, below: () => undefined, split, more } };
}

async function find(look: Look) {
  const { query } = look.request;
  const { task, repo = "", file = "" } = look.parts;
  const wish = wishOf(query);
  const whole = (await readDiff(look, wish)).repos.find((one) => one.repo === repo);
  const found = whole?.files[Number(file)];
  if (!whole || !found)
    throw new Failure("not_found", "no_file", `The saved diff of ${repo} has no file number ${file}.`, {
      hint: `Another diff may have been saved meanwhile. Open /t/${task}/diff again.`,
    });
  const at = query.get("at") ?? "0";
  const { run, split } = wish;
  const asked = queryOf(wish);
  asked.set("at", at);
  const address = `/t/${task}/diff/${encodeURIComponent(repo)}/${file}?${asked}`;
  const more = whole.kept ? moreOf(address) : undefined;
  return { repo, run, found, split, more, anchor: `f${Number(at) + 1}-${Number(file) + 1}-` };
}
