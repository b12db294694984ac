import { finish } from "../../ops/finish.ts";
import { run } from "../../ops/run.ts";
import { runResume } from "../../ops/run-resume.ts";
import { runStop } from "../../ops/run-stop.ts";
import { start } from "../../ops/start.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

const LIMITS: readonly Field[] = [
  { name: "time", label: "Time limit", hint: "60m unless you say otherwise", rare: true },
  { name: "idle", label: "Idle limit", hint: "stop it after this much silence", rare: true },
  { name: "cost", label: "Cost limit", hint: "US dollars, where the agent reports them", rare: true },
  { name: "turns", label: "Turn limit", hint: "where the agent reports turns", rare: true },
];
const RUN = { field: "run", part: "run" } as const;

/** What starts, resumes and ends a run. */
export const RUN_ACTIONS: Actions = {
  run: {
    operation: run,
    title: "Start an agent",
    button: "Start agent",
    fields: [
      { name: "agent", label: "Agent", hint: "claude, codex, copilot or one of your own", suggest: "agents" },
      {
        name: "mode",
        label: "Mode",
        hint: "a pipeline adds a reviewer and fixes",
        choices: ["single", "pipeline"],
      },
      { name: "message", label: "Message", hint: "what to tell it beyond the task", long: true },
      {
        name: "reviewer",
        label: "Reviewer",
        hint: "in a pipeline; another vendor's by default",
        suggest: "agents",
        rare: true,
      },
      { name: "rounds", label: "Rounds", hint: "of fixes in a pipeline; 2 by default", rare: true },
      { name: "role", label: "Role", hint: "author by default", rare: true },
      { name: "model", label: "Model", hint: "as the agent calls it", rare: true },
      ...LIMITS,
    ],
    task: { field: "task", list: true },
    tab: "runs",
  },
  resume: {
    operation: runResume,
    title: "Resume the run",
    button: "Resume",
    fields: [
      { name: "message", label: "Message", hint: "what to tell it on the way", long: true },
      { name: "agent", label: "Agent", hint: "a different agent", suggest: "agents", rare: true },
      { name: "model", label: "Model", hint: "as the agent calls it", rare: true },
      { name: "fresh", label: "New conversation", rare: true },
      ...LIMITS,
    ],
    task: RUN,
    tab: "runs",
  },
  stop: {
    operation: runStop,
    title: "Stop the agent",
    button: "Stop agent",
    fields: [{ name: "grace", label: "Grace" }],
    task: RUN,
    tab: "runs",
  },
  start: {
    operation: start,
    title: "Start by hand",
    button: "Create worktree",
    fields: [{ name: "claim", label: "Take over" }],
    task: TASK,
    tab: "runs",
  },
  keep: {
    operation: finish,
    title: "End the run and keep its worktrees",
    button: "Keep worktrees",
    fields: [{ name: "reason", label: "Reason" }],
    fixed: { keep: true },
    task: TASK,
    tab: "runs",
  },
  remove: {
    operation: finish,
    title: "End the run and remove its worktrees",
    button: "Remove worktrees",
    fields: [{ name: "reason", label: "Reason" }],
    fixed: { remove: true },
    task: TASK,
    tab: "runs",
  },
};
