import type { Task } from "../../model/records/task.ts";
import type { Reason, Stage } from "./gate.ts";

interface Rule {
  stages: readonly Stage[];
  /** The least ceremony at which it applies. */
  from: Task["profile"];
  owner: Reason["owner"];
}

const ALWAYS: readonly Stage[] = ["plan", "review", "close"];
const WORK: readonly Stage[] = ["review", "close"];
const END: readonly Stage[] = ["close"];

/** Every reason there is, the stages it counts at, for whom, and who settles it; in the order they are told. */
export const RULES = {
  // First, because whatever else is missing may be missing for this.
  record_missing: { stages: ALWAYS, from: "light", owner: "human" },
  record_altered: { stages: ALWAYS, from: "light", owner: "human" },
  record_unexplained: { stages: ALWAYS, from: "light", owner: "human" },
  dependency_open: { stages: ALWAYS, from: "light", owner: "author" },
  plan_missing: { stages: ALWAYS, from: "strict", owner: "author" },
  plan_not_reviewed: { stages: ALWAYS, from: "strict", owner: "reviewer" },
  plan_changed_since_review: { stages: ALWAYS, from: "strict", owner: "reviewer" },
  open_finding: { stages: ALWAYS, from: "light", owner: "author" },
  fix_not_in_branch: { stages: WORK, from: "light", owner: "author" },
  not_started: { stages: WORK, from: "light", owner: "author" },
  on_protected_branch: { stages: WORK, from: "light", owner: "author" },
  worktree_missing: { stages: WORK, from: "light", owner: "author" },
  branch_missing: { stages: WORK, from: "light", owner: "author" },
  base_changed: { stages: WORK, from: "light", owner: "author" },
  base_missing: { stages: WORK, from: "light", owner: "human" },
  surfaces_not_in_base: { stages: WORK, from: "light", owner: "human" },
  dirty_worktree: { stages: WORK, from: "light", owner: "author" },
  no_changes: { stages: WORK, from: "light", owner: "author" },
  slice_missing: { stages: WORK, from: "strict", owner: "author" },
  slice_open: { stages: WORK, from: "light", owner: "author" },
  slice_without_decision: { stages: WORK, from: "strict", owner: "author" },
  slice_without_red: { stages: WORK, from: "strict", owner: "author" },
  unmergeable: { stages: END, from: "light", owner: "author" },
  base_moved: { stages: END, from: "light", owner: "author" },
  check_missing: { stages: WORK, from: "light", owner: "author" },
  check_failed: { stages: WORK, from: "light", owner: "author" },
  check_stale: { stages: WORK, from: "light", owner: "author" },
  review_missing: { stages: END, from: "standard", owner: "reviewer" },
  review_stale: { stages: END, from: "standard", owner: "reviewer" },
  no_handoff: { stages: END, from: "light", owner: "author" },
  snapshot_missing: { stages: END, from: "light", owner: "author" },
  target_dirty: { stages: END, from: "light", owner: "human" },
} as const satisfies Record<string, Rule>;

export type ReasonCode = keyof typeof RULES;

const CEREMONY: readonly Task["profile"][] = ["light", "standard", "strict"];

export function applies(code: ReasonCode, stage: Stage, profile: Task["profile"]): boolean {
  const rule: Rule = RULES[code];
  return rule.stages.includes(stage) && CEREMONY.indexOf(profile) >= CEREMONY.indexOf(rule.from);
}

/** A fact that broke a rule, before it is known whether the rule applies. */
export interface Breach {
  code: ReasonCode;
  message: string;
  record?: string | undefined;
  repo?: string | undefined;
  check?: string | undefined;
  command: string;
}

const ORDER = Object.keys(RULES) as ReasonCode[];

/** The breaches that count at this stage for this much ceremony, in the order of the table. */
export function reasonsOf(breaches: readonly Breach[], stage: Stage, profile: Task["profile"]): Reason[] {
  return breaches
    .filter((breach) => applies(breach.code, stage, profile))
    .sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code))
    .map(({ code, message, record, repo, check, command }) => ({
      code,
      message,
      record,
      ...(repo === undefined ? {} : { repo }),
      ...(check === undefined ? {} : { check }),
      owner: RULES[code].owner,
      command,
    }));
}
