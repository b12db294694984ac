import type { Task } from "../../model/records/task.ts";
import type { Reason, Stage } from "./gate.ts";

interface Rule {
  stages: readonly Stage[];
  /** The lightest profile that it applies to. */
  from: Task["profile"];
  owner: Reason["owner"];
}

const ALWAYS: readonly Stage[] = ["plan", "review", "close"];
const WORK: readonly Stage[] = ["review", "close"];
const END: readonly Stage[] = ["close"];

/** Every reason: the stages and profiles where it counts, and who settles it; shown in this order. */
export const RULES = {
  // First, because lost or altered records may be why other things are missing.
  records_taken_back: { stages: ALWAYS, from: "light", owner: "human" },
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
  nobody_could_sign: { stages: END, from: "light", owner: "human" },
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

function applies(code: ReasonCode, stage: Stage, profile: Task["profile"]): boolean {
  const rule: Rule = RULES[code];
  return rule.stages.includes(stage) && CEREMONY.indexOf(profile) >= CEREMONY.indexOf(rule.from);
}

/** A broken rule, before it is known whether the rule applies. */
export interface Breach {
  code: ReasonCode;
  message: string;
  record?: string | undefined;
  repo?: string | undefined;
  check?: string | undefined;
  command: string;
}

const ORDER = Object.keys(RULES) as ReasonCode[];

/** The breaches that count for this stage and profile, in the order of the table. */
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
