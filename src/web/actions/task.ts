import { check } from "../../ops/check.ts";
import { decide } from "../../ops/decide.ts";
import { refresh } from "../../ops/refresh.ts";
import { snapshot } from "../../ops/snapshot.ts";
import { taskUpdate } from "../../ops/task-update.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

export const PROSE: readonly Field[] = [
  { name: "objective", label: "Objective", long: true },
  { name: "acceptance", label: "Acceptance", long: true },
  { name: "plan", label: "Plan", long: true },
];

/** What changes a task, or asks about it. */
export const TASK_ACTIONS: Actions = {
  edit: {
    operation: taskUpdate,
    title: "Edit the task",
    button: "Save",
    fields: [
      { name: "title", label: "Title", hint: "what to do, in a few words", across: true },
      ...PROSE,
      { name: "notes", label: "Notes", long: true },
      { name: "profile", label: "Profile", hint: "how much review it needs" },
      { name: "status", label: "Status", choices: ["open", "active", "blocked", "review", "done"] },
      { name: "blocker", label: "Blocker" },
      { name: "depends", label: "Depends on", hint: "tasks that have to be done first" },
      { name: "label", label: "Labels", hint: "to find it by" },
    ],
    task: TASK,
  },
  drop: {
    operation: taskUpdate,
    title: "Drop the task",
    button: "Drop task",
    fields: [{ name: "notes", label: "Notes", long: true }],
    fixed: { status: "dropped" },
    task: TASK,
  },
  decide: {
    operation: decide,
    title: "Record a decision",
    button: "Record decision",
    fields: [
      { name: "what", label: "Decision", long: true },
      { name: "why", label: "Why", long: true },
    ],
    task: TASK,
  },
  refresh: {
    operation: refresh,
    title: "Update the branch from its base",
    button: "Refresh",
    fields: [],
    task: TASK,
  },
  check: {
    operation: check,
    title: "Check whether it can be approved",
    button: "Check now",
    fields: [],
    fixed: { stage: "close" },
    task: TASK,
    tab: "approve",
  },
  settle: {
    operation: check,
    title: "Do what needs nobody's judgement",
    button: "Settle it",
    fields: [],
    fixed: { stage: "close", fix: true },
    task: TASK,
    tab: "approve",
  },
  snapshot: {
    operation: snapshot,
    title: "Save the diff again",
    button: "Save diff",
    fields: [],
    task: TASK,
    tab: "diff",
  },
};
