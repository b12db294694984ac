import type { RecordFacts } from "./facts.ts";
import type { Reason } from "./gate.ts";
import { isPassed, judgeRecords, latestReview } from "./judge-records.ts";
import { judgeRepos, reviewMissing } from "./judge-repos.ts";
import { type Breach, reasonsOf } from "./rules.ts";

/**
 * What is still missing by the records alone, shown when a session begins. Git is not asked, so `pawl check`
 * may find more. Before the run the plan stage counts, afterwards the close stage.
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
