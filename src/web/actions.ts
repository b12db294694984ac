import type * as z from "zod/mini";
import { check } from "../ops/check.ts";
import { decide } from "../ops/decide.ts";
import { findingAdd } from "../ops/finding-add.ts";
import { findingDefer } from "../ops/finding-defer.ts";
import { findingReopen } from "../ops/finding-reopen.ts";
import { findingResolve } from "../ops/finding-resolve.ts";
import { findingWontfix } from "../ops/finding-wontfix.ts";
import { finish } from "../ops/finish.ts";
import { noteAdd } from "../ops/note-add.ts";
import { refresh } from "../ops/refresh.ts";
import { run } from "../ops/run.ts";
import { runResume } from "../ops/run-resume.ts";
import { runStop } from "../ops/run-stop.ts";
import { snapshot } from "../ops/snapshot.ts";
import { start } from "../ops/start.ts";
import { taskNew } from "../ops/task-new.ts";
import { taskUpdate } from "../ops/task-update.ts";
import type { Described } from "../ports/operation.ts";
import type { Field } from "./forms.ts";

// biome-ignore lint/suspicious/noExplicitAny: actions are operations of every input and result
type AnyDescribed = Described<z.ZodMiniObject<any>, any>;

/** Something that a person can do here. The operation refuses what its command refuses; the page only asks for its fields. */
export interface Action {
  operation: AnyDescribed;
  title: string;
  /** What the button says. */
  button: string;
  fields: readonly Field[];
  /** What the page says by itself. */
  fixed?: Readonly<Record<string, unknown>>;
  /** The field that names the task, which comes from the address; undefined for what belongs to none. */
  task?: { field: string; list?: true };
  /** The fields that come from the query of the address, such as the finding. */
  about?: readonly string[];
  /** The tab of the task that shows what was done. */
  tab?: string;
}

const TASK = { field: "task" } as const;
const REASON: Field = { name: "note", label: "Reason", long: true };
const LIMITS: readonly Field[] = [
  { name: "time", label: "Time" },
  { name: "idle", label: "Silence" },
  { name: "cost", label: "Cost" },
  { name: "turns", label: "Turns" },
];
const PROSE: readonly Field[] = [
  { name: "objective", label: "Objective", long: true },
  { name: "acceptance", label: "Acceptance", long: true },
  { name: "plan", label: "Plan", long: true },
];

/** What belongs to no task. */
export const FREE_ACTIONS: Readonly<Record<string, Action>> = {
  task: {
    operation: taskNew,
    title: "New task",
    button: "Write it down",
    fields: [
      { name: "title", label: "Title" },
      ...PROSE,
      { name: "profile", label: "Profile" },
      { name: "repo", label: "Repositories" },
      { name: "depends", label: "Depends on" },
      { name: "label", label: "Labels" },
    ],
  },
  note: {
    operation: noteAdd,
    title: "New note",
    button: "Keep it",
    fields: [
      { name: "title", label: "Title" },
      { name: "text", label: "Note", long: true },
      { name: "label", label: "Labels" },
      { name: "about", label: "Files" },
    ],
  },
};

/** What is done to one task. */
export const TASK_ACTIONS: Readonly<Record<string, Action>> = {
  run: {
    operation: run,
    title: "Start an agent",
    button: "Start it",
    fields: [
      { name: "agent", label: "Agent" },
      { name: "role", label: "Role" },
      { name: "model", label: "Model" },
      { name: "message", label: "Message", long: true },
      ...LIMITS,
    ],
    task: { field: "task", list: true },
    tab: "runs",
  },
  resume: {
    operation: runResume,
    title: "Go on with a run",
    button: "Go on",
    fields: [
      { name: "message", label: "Message", long: true },
      { name: "agent", label: "Agent" },
      { name: "model", label: "Model" },
      { name: "fresh", label: "New conversation" },
      ...LIMITS,
    ],
    task: { field: "run" },
    tab: "runs",
  },
  stop: {
    operation: runStop,
    title: "Stop the agent",
    button: "Stop it",
    fields: [{ name: "grace", label: "Grace" }],
    task: { field: "run" },
    tab: "runs",
  },
  start: {
    operation: start,
    title: "Begin by hand",
    button: "Make the worktree",
    fields: [{ name: "claim", label: "Take over" }],
    task: TASK,
    tab: "runs",
  },
  edit: {
    operation: taskUpdate,
    title: "Edit the task",
    button: "Change it",
    fields: [
      { name: "title", label: "Title" },
      ...PROSE,
      { name: "notes", label: "Notes", long: true },
      { name: "profile", label: "Profile" },
      { name: "status", label: "Status", choices: ["open", "active", "blocked", "review", "done"] },
      { name: "blocker", label: "Blocker" },
    ],
    task: TASK,
  },
  drop: {
    operation: taskUpdate,
    title: "Drop the task",
    button: "Drop it",
    fields: [{ name: "notes", label: "Notes", long: true }],
    fixed: { status: "dropped" },
    task: TASK,
  },
  decide: {
    operation: decide,
    title: "Record a decision",
    button: "Record it",
    fields: [
      { name: "what", label: "Decision", long: true },
      { name: "why", label: "Why", long: true },
    ],
    task: TASK,
  },
  refresh: {
    operation: refresh,
    title: "Bring the base into the branch",
    button: "Refresh it",
    fields: [],
    task: TASK,
  },
  check: {
    operation: check,
    title: "Check whether it may be approved",
    button: "Check it",
    fields: [],
    fixed: { stage: "close" },
    task: TASK,
    tab: "approve",
  },
  snapshot: {
    operation: snapshot,
    title: "Save the diff again",
    button: "Save it",
    fields: [],
    task: TASK,
    tab: "diff",
  },
  keep: {
    operation: finish,
    title: "End the run and keep its worktrees",
    button: "Keep them",
    fields: [{ name: "reason", label: "Reason" }],
    fixed: { keep: true },
    task: TASK,
    tab: "runs",
  },
  remove: {
    operation: finish,
    title: "End the run and remove its worktrees",
    button: "Remove them",
    fields: [{ name: "reason", label: "Reason" }],
    fixed: { remove: true },
    task: TASK,
    tab: "runs",
  },
  finding: {
    operation: findingAdd,
    title: "Add a finding",
    button: "Add it",
    fields: [
      { name: "text", label: "Finding", long: true },
      { name: "severity", label: "Severity" },
      { name: "repo", label: "Repository" },
      { name: "file", label: "File" },
      { name: "line", label: "Line" },
      { name: "fix", label: "Fix", long: true },
    ],
    task: TASK,
    tab: "findings",
  },
  resolve: {
    operation: findingResolve,
    title: "The finding is fixed",
    button: "It is fixed",
    fields: [
      { name: "commit", label: "Commit" },
      { name: "note", label: "Note", long: true },
    ],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
  defer: {
    operation: findingDefer,
    title: "Put the finding off",
    button: "Put it off",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
  wontfix: {
    operation: findingWontfix,
    title: "The finding stays as it is",
    button: "It stays",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
  reopen: {
    operation: findingReopen,
    title: "Open the finding again",
    button: "Open it again",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
};
