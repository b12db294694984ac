import { ALWAYS, type Group, LONGER_IF_ROOM } from "./budget-fit.ts";

/** What gets its tokens first; the end of the list is left out first. */
const ORDER = [
  "place",
  "missing",
  "highFindings",
  "nextActions",
  "objective",
  "acceptance",
  "blockers",
  "findings",
  "handoff",
  "openSlices",
  "plan",
  "decisions",
  "evidence",
  "bestRelated",
  "longerTexts",
  "reviews",
  "otherHandoff",
  "goodRelated",
  "touched",
  "closedSlices",
  "oldEvidence",
  "lowRelated",
] as const;

export type Worth = (typeof ORDER)[number];

/** `nth` keeps entries of equal worth in their order. */
export function rankOf(worth: Worth | "always" | "ifRoom", nth = 0): number {
  if (worth === "always") return ALWAYS;
  if (worth === "ifRoom") return LONGER_IF_ROOM + nth;
  return 1 + ORDER.indexOf(worth) + nth / 1_000_000;
}

export const GROUPS = {
  identity: { one: "the task's branch and labels" },
  place: { one: "the state of the repository" },
  missing: { one: "what is missing" },
  blocker: { one: "the blocker" },
  next: { one: "next action", many: "next actions" },
  objective: { one: "the objective" },
  acceptance: { one: "the acceptance" },
  notes: { one: "the task's notes" },
  plan: { one: "the plan" },
  findings: { one: "finding", many: "findings" },
  handoff: { one: "the handoff's details" },
  openSlices: { one: "open slice", many: "open slices" },
  closedSlices: { one: "closed slice", many: "closed slices" },
  decisions: { one: "decision", many: "decisions" },
  evidence: { one: "result", many: "results" },
  oldEvidence: { one: "older result", many: "older results" },
  reviews: { one: "review", many: "reviews" },
  related: { one: "related record", many: "related records" },
  touched: { one: "touched file", many: "touched files" },
} as const satisfies Record<string, Group>;
