import type { RecordFacts } from "./facts.ts";
import type { Reason } from "./gate.ts";
import { isPassed, judgeRecords, latestReview } from "./judge-records.ts";
import { judgeRepos, reviewMissing } from "./judge-repos.ts";
import { type Breach, reasonsOf } from "./rules.ts";

/**
 * What the records alone say is still missing, for the load of a session: git is not asked, so `pawl check` may find
 * more. Before the run it is the plan that counts, afterwards the way to the merge.
 */
export function sessionGates(facts: RecordFacts): { stage: "plan" | "close"; reasons: Reason[] } {
  const stage = facts.run || facts.task.status !== "open" ? "close" : "plan";
  const breaches: Breach[] = judgeRecords(facts, stage, facts.task.plan_digest);
  if (stage === "close") {
    const latest = latestReview(facts, "branch");
    if (!facts.run) breaches.push(...judgeRepos(facts, []));
    if (!latest || !isPassed(latest, facts.findings)) breaches.push(reviewMissing(facts.task.id, latest));
  }
  return { stage, reasons: reasonsOf(breaches, stage, facts.task.profile) };
}
