import { Failure } from "../../model/failure.ts";
import { partOf } from "../../model/ids.ts";
import { printable } from "../../model/printable.ts";
import { PLAIN } from "../../model/text.ts";
import { diffViewed } from "../../ops/diff-viewed.ts";
import { reviewRecord } from "../../ops/review-record.ts";
import { lookedAt } from "../diff/looked.ts";
import { savedDiff } from "../diff/saved-diff.ts";
import { seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { problem } from "./problem.ts";
import type { Look, View } from "./view.ts";

/**
 * Everything that a person found, with one verdict, in one step. What was looked at is what this clone has marked as viewed,
 * and the commits are those that were shown: if the author has committed since, nothing is recorded and nothing is lost.
 */
export const finishReview: View = async (look) => {
  const { ask, notices, parts, request } = look;
  const { verdict, summary, findings, heads } = fieldsOf(request.body);
  try {
    const { data, warnings, next } = await ask(reviewRecord, {
      task: parts.task,
      kind: "branch",
      verdict: verdict as "pass",
      looked_at: await lookedAtBy(look),
      head: (heads ?? "").split("\n").filter(Boolean),
      ...(summary === undefined ? {} : { summary }),
      ...(findings === undefined ? {} : { findings: listOf(findings) as never }),
    });
    const done = notices.keep({ text: printable(reviewRecord.text(data, PLAIN)), warnings, next });
    return seeOther(`/t/${parts.task}?sent=${partOf(data.review.id)}&done=${done}`);
  } catch (error) {
    return problem(error, `pawl review record ${parts.task}`, {
      word: "Back to the diff; everything you wrote is still there",
      path: `/t/${parts.task}/diff#finish`,
    });
  }
};

function listOf(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.length === 0 ? undefined : list;
  } catch {
    // Falls through: text that is not JSON is not a list of findings either.
  }
  throw new Failure("usage", "bad_input", '"findings" must be a list of findings', {
    details: { field: "findings" },
  });
}

/** Files that were marked as viewed in their present state. */
async function lookedAtBy({ ask, parts }: Look): Promise<string[]> {
  const repos = await savedDiff(ask, parts.task, undefined);
  const { data } = await ask(diffViewed, { task: parts.task });
  const { isViewed } = lookedAt(data.viewed, repos);
  return repos.flatMap(({ repo, files }) =>
    files
      .filter((file) => isViewed(repo, file))
      .map(({ path }) => (repos.length > 1 ? `${repo}: ${path}` : path)),
  );
}
