import * as z from "zod/mini";
import { gatherAuthors, planAuthors } from "../judge/authors.ts";
import { addPart, madeNow } from "../judge/change.ts";
import { findRun } from "../judge/current-run.ts";
import { newFindings, type Said, type Seen } from "../judge/new-findings.ts";
import { getTask, oneTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parsePartRef } from "../model/ids.ts";
import { choice, line, many, maybe, objects, prose, taskField } from "../model/input.ts";
import { mayJudge, wayToCount, whyNoJudge } from "../model/lifecycle.ts";
import {
  type Finding,
  finding,
  REVIEW_KINDS,
  type Review,
  review,
  VERDICTS,
} from "../model/records/parts.ts";
import type { Task } from "../model/records/task.ts";
import { statusColour } from "../model/text.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { findingFields, seenBy } from "./finding-add.ts";
import { operation } from "./operation.ts";

const MOST_FINDINGS = 100;

interface Recorded {
  review: Review;
  /** The new ones that came along. */
  findings: Finding[];
}

export const reviewRecord = operation({
  id: "review.record",
  summary: "Record a review: its verdict, what was looked at, and its findings",
  details:
    "The verdict has to match the findings: `pass` with no open finding of this kind, `pass_with_findings` and\n`fail` with at least one. A review by an author of the work is kept, but counts for no gate. You can record\nnew findings with the review in one step: either all of it is recorded or nothing.",
  examples: [
    "pawl review record --kind branch --verdict pass --looked-at src/upload.ts --looked-at test/upload.test.ts",
  ],
  access: "write",
  cli: { positional: ["task"], texts: ["findings"] },
  input: z.strictObject({
    task: taskField(),
    kind: choice(REVIEW_KINDS, "what was reviewed"),
    verdict: choice(VERDICTS, "the result"),
    looked_at: many(line("a file or part that you really looked at", "FILE", 4_096)),
    finding: many(line("a finding of this review (default: your open ones of this kind)", "F", 40)),
    findings: maybe(objects(findingFields, "new findings, recorded in the same step", MOST_FINDINGS)),
    head: many(
      line(
        "the commit you looked at, NAME@COMMIT in several repositories; refused if it is not the tip",
        "COMMIT",
        200,
      ),
    ),
    summary: maybe(prose("what the verdict is based on")),
  }),
  milestone: ({ review: value }: Recorded) => `${value.id}: ${value.kind} ${value.verdict}`,

  async observe(world, input, at, reader) {
    const found = findRun(reader, getTask(reader, input.task, at))?.value;
    return {
      heads: input.kind === "branch" && found ? await world.branchTips(found.repos) : [],
      seen: await seenBy(world, input.task, input.findings ?? [], at, reader),
    };
  },

  gather(reader, input, at, { heads, seen }) {
    const id = getTask(reader, input.task, at);
    const named = (input.finding ?? []).map((text) => {
      const { task, part } = parsePartRef(text, "F", "finding");
      return reader.part(finding, oneTask(task, id) ?? id, part).value;
    });
    return {
      named,
      heads,
      seen,
      task: reader.task(id).value,
      findings: readableFindings(reader, id),
      authors: gatherAuthors(reader, id),
      names: reader.partNames(review, id),
      findingNames: reader.partNames(finding, id),
    };
  },

  decide(input, facts, at): Plan<Recorded> {
    const { task } = facts;
    const { added, effects } = addFindings(input, facts, at);
    const open = [...facts.findings, ...added].filter(
      (one) => one.kind === input.kind && one.status === "open",
    );
    checkVerdict(input, task, open);
    const mine = input.finding ? [...facts.named, ...added] : open.filter((one) => one.actor === at.actor);
    const authors = input.kind === "plan" ? planAuthors(task) : facts.authors;
    const counts = mayJudge(at.actor, authors, at.minds);
    checkHeads(input.head ?? [], facts.heads, at);
    const { effect, value } = addPart(
      review,
      task.id,
      facts.names,
      (id) => ({
        id,
        kind: input.kind,
        verdict: input.verdict,
        subject: input.kind === "plan" ? "plan" : branchOf(at),
        head: input.kind === "branch" ? (headHere(facts.heads, at) ?? at.commit) : undefined,
        heads: facts.heads,
        // Of the plan as it stands: one edited by hand has the digest of its past in the header.
        plan_digest: input.kind === "plan" ? at.sha256(task.plan) : undefined,
        looked_at: input.looked_at ?? [],
        findings: mine.map((one) => one.id),
        counts,
        ...madeNow(at),
        summary: input.summary ?? "",
      }),
      `${input.kind}: ${input.verdict}`,
    );
    const warnings: string[] = [];
    if (!counts)
      warnings.push(
        `${whyNoJudge(at, authors)}: the review is recorded, but no gate will count it.${wayToCount(at)}`,
      );
    if (value.looked_at.length === 0)
      warnings.push("You named nothing with --looked-at, so the review covers nothing.");
    return { data: { review: value, findings: added }, effects: [...effects, effect], warnings };
  },

  text: ({ review: value }, style) =>
    `${style.bold(value.id)} ${value.kind}: ${statusColour(value.verdict, style)}${value.counts ? "" : " (not counted)"}`,
});

interface FindingFacts {
  task: Task;
  seen: Seen;
  findings: Finding[];
  findingNames: readonly string[];
}

/** What the review found, each of the kind that is reviewed. */
function addFindings(
  { kind, findings = [] }: { kind: Finding["kind"]; findings?: readonly Said[] | undefined },
  { task, seen, findings: earlier, findingNames: names }: FindingFacts,
  at: Situation,
) {
  const said = findings.map((one) => ({ ...one, kind }));
  return newFindings(said, { ...seen, task: task.id, plan: task.plan, earlier, names }, at);
}

/** A verdict over findings that cannot be read would be one over something else. */
function readableFindings(reader: Reader, id: string): Finding[] {
  const { records, problems } = reader.parts(finding, id);
  const [problem] = problems;
  if (problem)
    throw new Failure(
      "unreadable",
      "finding_unreadable",
      problem.message,
      problem.hint ? { hint: problem.hint } : {},
    );
  return records.map((record) => record.value);
}

type Heads = readonly { repo: string; head: string }[];

/** What was looked at has to be what the verdict is recorded for: the author may have committed since. */
function checkHeads(seen: readonly string[], heads: Heads, at: { repo: string | undefined }): void {
  for (const one of seen) {
    const cut = one.lastIndexOf("@");
    const repo =
      cut < 0 ? (heads.some((each) => each.repo === at.repo) ? at.repo : heads[0]?.repo) : one.slice(0, cut);
    const tip = heads.find((each) => each.repo === repo)?.head;
    if (tip?.startsWith(one.slice(cut + 1).toLowerCase())) continue;
    throw new Failure(
      "refused",
      "branch_moved",
      `You looked at ${one}; the branch is at ${tip?.slice(0, 12) ?? "no commit"} now.`,
      {
        hint: "Review what was added, then record the review with the new commit.",
        details: { field: "head", head: tip },
      },
    );
  }
}

/** A reviewer may stand anywhere; what was reviewed is the task's branch. */
const headHere = (heads: Heads, at: { repo: string | undefined }) =>
  (heads.find((one) => one.repo === at.repo) ?? heads[0])?.head;

const branchOf = (at: { branch: string | undefined; commit: string | undefined }) =>
  at.branch ?? at.commit ?? "unborn";

function checkVerdict(
  input: { kind: string; verdict: string },
  task: { id: string; plan: string },
  open: readonly Finding[],
): void {
  if (input.kind === "plan" && task.plan === "")
    throw new Failure("refused", "no_plan", `${task.id} has no plan to review.`, {
      hint: `pawl task update ${task.id} --plan "…"`,
    });
  const ids = open.map((one) => one.id).join(", ");
  if (input.verdict === "pass" && open.length > 0)
    throw new Failure("refused", "open_finding", `"pass" is not possible with open findings: ${ids}.`, {
      hint: "Settle them first, or use pass_with_findings or fail.",
      details: { findings: open.map((one) => one.id) },
    });
  const high = open.filter((one) => one.severity === "high").map((one) => one.id);
  if (input.verdict === "pass_with_findings" && high.length > 0)
    throw new Failure(
      "refused",
      "open_finding",
      `A high finding is open, so nothing can pass: ${high.join(", ")}.`,
      {
        hint: "Use fail. If it is not worth failing for, it is not high.",
        details: { findings: high },
      },
    );
  if (input.verdict !== "pass" && open.length === 0)
    throw new Failure(
      "refused",
      "no_finding",
      `"${input.verdict}" needs an open finding that says what is wrong.`,
      {
        hint: `pawl finding add "…" --severity high --kind ${input.kind} --task ${task.id}`,
      },
    );
}
