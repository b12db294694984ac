import { mayJudge } from "../../model/lifecycle.ts";
import type { Finding, Handoff, Review } from "../../model/records/parts.ts";
import { firstLine } from "../../model/text.ts";
import type { RecordFacts } from "./facts.ts";
import type { Stage } from "./gate.ts";
import type { Breach } from "./rules.ts";

/** What is missing by the records alone. `planDigest` is the digest of the current plan. */
export function judgeRecords(facts: RecordFacts, stage: Stage, planDigest: string | undefined): Breach[] {
  const { task } = facts;
  return [
    ...facts.waitingFor.map(
      (id): Breach => ({
        code: "dependency_open",
        message: `${task.id} depends on ${id}, which is not merged yet.`,
        record: id,
        command: `pawl task show ${id}`,
      }),
    ),
    ...judgePlan(facts, planDigest),
    ...judgeFindings(facts, stage),
    ...judgeSlices(facts),
    ...judgeHandoff(facts),
  ];
}

/** The latest review of this kind that counts; a later fail overrides an earlier pass. */
export function latestReview(
  { reviews, authors }: Pick<RecordFacts, "reviews" | "authors">,
  kind: Review["kind"],
): Review | undefined {
  // A reviewer may have worked on the branch after the review. Plan reviews need no such check: the plan came
  // first.
  const isOthers = (one: Review) => kind === "plan" || mayJudge(one.actor, authors);
  return reviews.filter((one) => one.kind === kind && one.counts && isOthers(one)).at(-1);
}

/** While a high finding is open, no verdict counts as a pass. */
export function isPassed(review: Review | undefined, findings: RecordFacts["findings"]): boolean {
  if (review === undefined || review.verdict === "fail") return false;
  return !findings.some(
    (one) => one.kind === review.kind && one.status === "open" && one.severity === "high",
  );
}

function judgePlan(facts: RecordFacts, planDigest: string | undefined): Breach[] {
  const { task } = facts;
  if (task.plan === "")
    return [
      {
        code: "plan_missing",
        message: `${task.id} has no plan.`,
        record: task.id,
        command: `pawl task update ${task.id} --plan "…"`,
      },
    ];
  const latest = latestReview(facts, "plan");
  const command = `pawl review start ${task.id} --kind plan`;
  if (!latest || !isPassed(latest, facts.findings))
    return [
      {
        code: "plan_not_reviewed",
        message: !latest
          ? "Nobody but its author has reviewed the plan."
          : latest.verdict === "fail"
            ? `The last review of the plan, ${latest.id}, says fail.`
            : `${latest.id} says ${latest.verdict}, but no review passes the plan while a high finding is open.`,
        record: latest?.id ?? task.id,
        command,
      },
    ];
  if (latest.plan_digest === planDigest) return [];
  return [
    {
      code: "plan_changed_since_review",
      message: `The plan was changed after ${latest.id} reviewed it.`,
      record: latest.id,
      command,
    },
  ];
}

function judgeFindings({ task, findings }: RecordFacts, stage: Stage): Breach[] {
  return findings
    .filter((one) => one.status === "open" && (stage !== "plan" || one.kind === "plan"))
    .map((one) => ({
      code: "open_finding",
      message: `${one.severity}: ${firstLine(one.text, 100)}`,
      record: one.id,
      command: settling(one, task.id),
    }));
}

/** How an author settles a finding: first the fix, then the command that records it. */
function settling(one: Finding, task: string): string {
  const id = one.id.replace(`${task}/`, "");
  const work =
    one.kind === "plan" ? `pawl task update ${task} --plan FILE` : `git commit -am "Fix ${one.id}"`;
  return `${work} && pawl finding resolve ${id} --task ${task}`;
}

function judgeSlices({ task }: RecordFacts): Breach[] {
  if (task.slices.length === 0)
    return [
      {
        code: "slice_missing",
        message: `${task.id} has no slice; strict tasks are done in slices.`,
        record: task.id,
        command: `pawl slice open "<title>" --task ${task.id}`,
      },
    ];
  return task.slices.flatMap((slice): Breach[] => {
    const record = `${task.id}/${slice.id}`;
    const close = `pawl slice close ${slice.id} --task ${task.id} --decision "…"`;
    if (slice.status === "open")
      return [{ code: "slice_open", message: firstLine(slice.title, 100), record, command: close }];
    const breaches: Breach[] = [];
    if (slice.decision === undefined)
      breaches.push({
        code: "slice_without_decision",
        message: `${slice.id} was closed without a decision.`,
        record,
        command: close,
      });
    if (slice.red === undefined || slice.green === undefined)
      breaches.push({
        code: "slice_without_red",
        message: `${slice.id} has no test that failed first and then passed.`,
        record,
        command: `pawl verify --slice ${slice.id} --red --task ${task.id} -- <test command>`,
      });
    return breaches;
  });
}

/**
 * A handoff from before the run says nothing about it. Clocks differ, so a handoff that names the run counts
 * too.
 */
function judgeHandoff({ task, run, handoffs }: RecordFacts): Breach[] {
  const own = handoffs.filter((one) => !one.automatic);
  // A restored run keeps the handoffs about the run that it was restored from.
  const isAbout = (one: Handoff) => one.run !== undefined && [run?.id, run?.restored].includes(one.run);
  if (own.some((one) => run === undefined || isAbout(one) || one.created >= run.created)) return [];
  return [
    {
      code: "no_handoff",
      message: "There is no handoff yet: what was done, how it was checked, what comes next.",
      record: task.id,
      command: `pawl handoff ${task.id} --what "…" --next "…"`,
    },
  ];
}
