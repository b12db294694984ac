import branchReviewConcerns from "../../../skills/branch-review/references/concerns.md.hbs";
import branchReviewFindings from "../../../skills/branch-review/references/findings.md.hbs";
import handoffLifecycleHandoffs from "../../../skills/handoff-lifecycle/references/handoffs.md.hbs";
import investigateFlaky from "../../../skills/investigate/references/flaky.md.hbs";
import investigateTracing from "../../../skills/investigate/references/tracing.md.hbs";
import planAnalyzeGoodPlan from "../../../skills/plan-analyze/references/good-plan.md.hbs";
import planAnalyzeQuestions from "../../../skills/plan-analyze/references/questions.md.hbs";
import planningReviewQuestions from "../../../skills/planning-review/references/questions.md.hbs";
import reviewParallelBriefs from "../../../skills/review-parallel/references/briefs.md.hbs";
import reviewParallelMerging from "../../../skills/review-parallel/references/merging.md.hbs";
import scopeCriteria from "../../../skills/scope/references/criteria.md.hbs";
import tddGoodTests from "../../../skills/tdd/references/good-tests.md.hbs";

/** What a skill says more than fits into it, by skill and file: opened when one of its steps says so. */
export const REFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "branch-review": { "concerns.md": branchReviewConcerns, "findings.md": branchReviewFindings },
  "handoff-lifecycle": { "handoffs.md": handoffLifecycleHandoffs },
  investigate: { "flaky.md": investigateFlaky, "tracing.md": investigateTracing },
  "plan-analyze": { "good-plan.md": planAnalyzeGoodPlan, "questions.md": planAnalyzeQuestions },
  "planning-review": { "questions.md": planningReviewQuestions },
  "review-parallel": { "briefs.md": reviewParallelBriefs, "merging.md": reviewParallelMerging },
  scope: { "criteria.md": scopeCriteria },
  tdd: { "good-tests.md": tddGoodTests },
};
