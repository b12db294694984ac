import { finish } from "../../ops/finish.ts";
import { run } from "../../ops/run.ts";
import { runResume } from "../../ops/run-resume.ts";
import { runStop } from "../../ops/run-stop.ts";
import { start } from "../../ops/start.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

const LIMITS: readonly Field[] = [
  { name: "time", label: "Time" },
  { name: "idle", label: "Silence" },
  { name: "cost", label: "Cost" },
  { name: "turns", label: "Turns" },
];
const RUN = { field: "run", part: "run" } as const;

/** What begins, goes on with and ends a run. */
export const RUN_ACTIONS: Actions = {
  run: {
    operation: run,
    title: "Start an agent",
    button: "Start it",
    fields: [
      { name: "agent", label: "Agent", suggest: "agents" },
      { name: "role", label: "Role" },
      { name: "mode", label: "Mode", choices: ["single", "pipeline"] },
      { name: "reviewer", label: "Reviewer", suggest: "agents" },
      { name: "rounds", label: "Rounds" },
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
      { name: "agent", label: "Agent", suggest: "agents" },
      { name: "model", label: "Model" },
      { name: "fresh", label: "New conversation" },
      ...LIMITS,
    ],
    task: RUN,
    tab: "runs",
  },
  stop: {
    operation: runStop,
    title: "Stop the agent",
    button: "Stop it",
    fields: [{ name: "grace", label: "Grace" }],
    task: RUN,
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
};
