import { Failure } from "../../model/failure.ts";
import { taskShow } from "../../ops/task-show.ts";
import { fileRows } from "../diff/file-section.ts";
import { savedDiff } from "../diff/saved-diff.ts";
import { page } from "../exchange.ts";
import { findingsOf } from "./diff.ts";
import type { View } from "./view.ts";

/** The rows of one file, for a page that loads them when they come near. */
export const diffFile: View = async ({ ask, parts, request }) => {
  const { task, repo = "", file = "" } = parts;
  const repos = await savedDiff(ask, task, request.query.get("run") ?? undefined);
  const found = repos.find((one) => one.repo === repo)?.files[Number(file)];
  if (!found)
    throw new Failure("not_found", "no_file", `The saved diff of ${repo} has no file number ${file}.`);
  const { data } = await ask(taskShow, { task });
  const split = request.query.get("view") === "split";
  const anchor = `f${Number(request.query.get("at") ?? 0) + 1}-${Number(file) + 1}-`;
  return page(fileRows(found, anchor, findingsOf(data.findings, repo, found), split));
};
