import { findingAdd } from "../../ops/finding-add.ts";
import { findingDefer } from "../../ops/finding-defer.ts";
import { findingReopen } from "../../ops/finding-reopen.ts";
import { findingResolve } from "../../ops/finding-resolve.ts";
import { findingWontfix } from "../../ops/finding-wontfix.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

const REASON: Field = { name: "note", label: "Reason", long: true };

/** Adding findings and settling them. */
export const FINDING_ACTIONS: Actions = {
  finding: {
    operation: findingAdd,
    title: "Add a finding",
    button: "Add finding",
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
    title: "Mark the finding as fixed",
    button: "Mark as fixed",
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
    title: "Defer the finding",
    button: "Defer",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
  wontfix: {
    operation: findingWontfix,
    title: "Close the finding without a fix",
    button: "Won't fix",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
  reopen: {
    operation: findingReopen,
    title: "Reopen the finding",
    button: "Reopen",
    fields: [REASON],
    about: ["finding"],
    task: TASK,
    tab: "findings",
  },
};
