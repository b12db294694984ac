import { flag, group, list, oneOf, optional, sha, text, withDefault } from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { partId, provenance, sliceId, taskId } from "./shared.ts";

export const TASK_STATUSES = ["open", "active", "blocked", "review", "merged", "done", "dropped"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const PROFILES = ["light", "standard", "strict"] as const;

const slice = group({
  id: sliceId,
  title: text("Parse the header"),
  status: oneOf(["open", "closed"]),
  decision: optional(partId("D")),
  red: optional(partId("E")),
  green: optional(partId("E")),
  commit: optional(sha),
  /** Who opened it: one of the task's authors. */
  by: optional(text("agent:codex")),
});

export const task = kind({
  name: "task",
  plural: "tasks",
  letter: "T",
  fields: {
    id: taskId,
    title: text("Make it faster"),
    status: oneOf(TASK_STATUSES),
    profile: oneOf(PROFILES),
    base_branch: optional(text("main")),
    repos: list(text("my-project")),
    labels: list(text("bug")),
    depends_on: list(taskId),
    /** The task that this one is a part of: who manages that one may have this one worked on. */
    parent: optional(taskId),
    blocker: optional(text("waiting for the API key")),
    next: list(text("write the failing test")),
    archived: withDefault(flag, false),
    plan_digest: optional(text("sha256 of the plan")),
    /** Who wrote the plan as it stands: somebody else has to review it. */
    plan_by: optional(text("agent:codex")),
    slices: list(slice),
    ...provenance,
    /** The task's own branch, once it has one; where the task was written down is in its event. */
    branch: optional(text("task/T0001-make-it-faster")),
  },
  sections: { objective: "Objective", plan: "Plan", acceptance: "Acceptance", notes: "Notes" },
});

export type Task = ValueOf<typeof task>;
export type Slice = Task["slices"][number];
