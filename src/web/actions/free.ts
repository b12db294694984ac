import { noteAdd } from "../../ops/note-add.ts";
import { taskNew } from "../../ops/task-new.ts";
import type { Actions } from "./action.ts";
import { PROSE } from "./task.ts";

/** What belongs to no task. */
export const FREE_ACTIONS: Actions = {
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
