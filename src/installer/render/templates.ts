import concernConcurrency from "../../../skills/_partials/concern-concurrency.hbs";
import concernCorrectness from "../../../skills/_partials/concern-correctness.hbs";
import concernData from "../../../skills/_partials/concern-data.hbs";
import concernInterface from "../../../skills/_partials/concern-interface.hbs";
import concernPerformance from "../../../skills/_partials/concern-performance.hbs";
import concernReadability from "../../../skills/_partials/concern-readability.hbs";
import concernSecurity from "../../../skills/_partials/concern-security.hbs";
import concernTests from "../../../skills/_partials/concern-tests.hbs";
import gate from "../../../skills/_partials/gate.hbs";
import notTheAuthor from "../../../skills/_partials/not-the-author.hbs";
import pawlMeans from "../../../skills/_partials/pawl.hbs";
import recordFinding from "../../../skills/_partials/record-finding.hbs";
import sheet from "../../../skills/_partials/sheet.hbs";
import verdict from "../../../skills/_partials/verdict.hbs";
import autoFix from "../../../skills/auto-fix/SKILL.md.hbs";
import branchLifecycle from "../../../skills/branch-lifecycle/SKILL.md.hbs";
import branchReview from "../../../skills/branch-review/SKILL.md.hbs";
import handoffLifecycle from "../../../skills/handoff-lifecycle/SKILL.md.hbs";
import incrementalImplementation from "../../../skills/incremental-implementation/SKILL.md.hbs";
import investigate from "../../../skills/investigate/SKILL.md.hbs";
import manage from "../../../skills/manage/SKILL.md.hbs";
import pawl from "../../../skills/pawl/SKILL.md.hbs";
import planAnalyze from "../../../skills/plan-analyze/SKILL.md.hbs";
import planningReview from "../../../skills/planning-review/SKILL.md.hbs";
import reviewParallel from "../../../skills/review-parallel/SKILL.md.hbs";
import scope from "../../../skills/scope/SKILL.md.hbs";
import tdd from "../../../skills/tdd/SKILL.md.hbs";

/** Every skill by its name, in the order in which work goes; a test compares with the folder. */
export const SKILLS: Readonly<Record<string, string>> = {
  pawl,
  scope,
  "plan-analyze": planAnalyze,
  "planning-review": planningReview,
  "branch-lifecycle": branchLifecycle,
  tdd,
  "incremental-implementation": incrementalImplementation,
  "branch-review": branchReview,
  "review-parallel": reviewParallel,
  "auto-fix": autoFix,
  investigate,
  manage,
  "handoff-lifecycle": handoffLifecycle,
};

/** Text that is the same in several skills. */
export const PARTIALS: Readonly<Record<string, string>> = {
  "concern-concurrency": concernConcurrency,
  "concern-correctness": concernCorrectness,
  "concern-data": concernData,
  "concern-interface": concernInterface,
  "concern-performance": concernPerformance,
  "concern-readability": concernReadability,
  "concern-security": concernSecurity,
  "concern-tests": concernTests,
  gate,
  "not-the-author": notTheAuthor,
  pawl: pawlMeans,
  "record-finding": recordFinding,
  sheet,
  verdict,
};
