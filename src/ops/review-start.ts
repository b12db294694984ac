import * as z from "zod/mini";
import { gatherAuthors, planAuthors } from "../judge/authors.ts";
import { findRun } from "../judge/current-run.ts";
import { findingLine } from "../judge/findings.ts";
import { getTask } from "../judge/which-task.ts";
import { choice, taskField } from "../model/input.ts";
import { mayJudge, wayToCount, whyNoJudge } from "../model/lifecycle.ts";
import { decision, evidence, finding, REVIEW_KINDS, review } from "../model/records/parts.ts";
import type { Run } from "../model/records/run.ts";
import { columns, firstLine, indent, paragraphs, warningsOf } from "../model/text.ts";
import type { World } from "../ports/ports.ts";
import { operation } from "./operation.ts";
import { evidenceRow } from "./task-show.ts";

export const reviewStart = operation({
  id: "review.start",
  summary: "Show a reviewer what is known before they start, earlier findings first",
  examples: ["pawl review start --kind branch", "pawl review start T0001 --kind plan"],
  // Reading as somebody: the actor decides whether the review will count.
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), kind: choice(REVIEW_KINDS, "what is reviewed") }),

  async observe(world, input, at, reader) {
    if (input.kind === "plan") return { changed: [], heads: [] };
    const id = getTask(reader, input.task, at);
    const run = findRun(reader, id)?.value;
    if (run) return lookAtRun(world, run);
    const { base_branch: base } = reader.task(id).value;
    const known = base === undefined ? undefined : await world.resolveCommit(base);
    return { changed: known === undefined ? [] : await world.changedFiles(known), heads: [] };
  },

  gather(reader, input, at, { changed, heads }) {
    const id = getTask(reader, input.task, at);
    return {
      changed,
      heads,
      task: reader.task(id).value,
      authors: gatherAuthors(reader, id),
      findings: reader.parts(finding, id),
      reviews: reader.parts(review, id).records.map((record) => record.value),
      evidence: reader.parts(evidence, id).records.map((record) => record.value),
      decisions: reader.parts(decision, id).records.map((record) => record.value),
    };
  },

  decide(input, facts, at) {
    const { task } = facts;
    const authors = input.kind === "plan" ? planAuthors(task) : facts.authors;
    const counts = mayJudge(at.actor, authors, at.minds);
    return {
      data: {
        task,
        review: {
          kind: input.kind,
          counts,
          head: facts.heads[0]?.head ?? at.commit,
          heads: facts.heads,
          plan_digest: at.sha256(task.plan),
        },
        findings: facts.findings.records.map((record) => record.value),
        reviews: facts.reviews.filter((one) => one.kind === input.kind),
        decisions: facts.decisions,
        evidence: facts.evidence,
        changed: facts.changed,
      },
      warnings: [
        ...(counts
          ? []
          : [
              `${whyNoJudge(at, authors)}: your review will be recorded, but no gate will count it.${wayToCount(at)}`,
            ]),
        ...warningsOf(facts.findings.problems),
      ],
      next: {
        command: `pawl review record ${task.id} --kind ${input.kind} --verdict pass|pass_with_findings|fail --looked-at FILE${headWords(facts.heads)}`,
        reason: "after recording each finding with `pawl finding add`",
      },
    };
  },

  text: (data, style) =>
    paragraphs(
      style.bold(`Review of the ${data.review.kind} of ${data.task.id} ${firstLine(data.task.title)}`),
      data.findings.length === 0
        ? "No earlier findings."
        : `Earlier findings; read these first:\n${indent(data.findings.map(findingLine).join("\n"))}`,
      data.task.objective && `Objective\n${indent(data.task.objective)}`,
      data.review.kind === "plan" ? data.task.plan && `Plan\n${indent(data.task.plan)}` : undefined,
      data.task.acceptance && `Acceptance\n${indent(data.task.acceptance)}`,
      data.decisions.length > 0 &&
        `Decisions\n${indent(data.decisions.map((one) => `${one.id} ${firstLine(one.what)}`).join("\n"))}`,
      data.evidence.length > 0 && `Evidence\n${indent(columns(data.evidence.map(evidenceRow)))}`,
      data.changed.length > 0 && `Changed files\n${indent(data.changed.join("\n"))}`,
    ),
});

/** What is reviewed is the task's branch in every repository, wherever the reviewer stands. */
async function lookAtRun(world: World, run: Run) {
  const heads = await world.branchTips(run.repos);
  const changed = await world.branchChanges(run.repos);
  const named = run.repos.length > 1;
  return {
    heads,
    changed: changed.flatMap(({ repo, files }) => files.map((file) => (named ? `${repo}: ${file}` : file))),
  };
}

const headWords = (heads: readonly { repo: string; head: string }[]) =>
  heads.map(({ repo, head }) => ` --head ${heads.length > 1 ? `${repo}@` : ""}${head.slice(0, 12)}`).join("");
