import { findingAdd } from "../../ops/finding-add.ts";
import { findingDefer } from "../../ops/finding-defer.ts";
import { findingReopen } from "../../ops/finding-reopen.ts";
import { findingResolve } from "../../ops/finding-resolve.ts";
import { findingWontfix } from "../../ops/finding-wontfix.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

const REASON: Field = { name: "note", label: "Reason", long: true };

/** What is found, and what becomes of it. */
export const FINDING_ACTIONS: Actions = {
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
