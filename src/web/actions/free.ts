import { noteAdd } from "../../ops/note-add.ts";
import { taskNew } from "../../ops/task-new.ts";
import type { Actions } from "./action.ts";
import { PROSE } from "./task.ts";

/** What belongs to no task. */
export const FREE_ACTIONS: Actions = {
  task: {
    operation: taskNew,
    title: "New task",
    button: "Create task",
    fields: [
      { name: "title", label: "Title", across: true },
      ...PROSE,
      { name: "profile", label: "Profile", hint: "how much review it needs" },
      { name: "repo", label: "Repositories", hint: "that it changes; this one if you name none", rare: true },
      { name: "depends", label: "Depends on", hint: "tasks that have to be done first", rare: true },
      { name: "label", label: "Labels", hint: "to find it by", rare: true },
    ],
  },
  note: {
    operation: noteAdd,
    title: "New note",
    button: "Save note",
    fields: [
      { name: "title", label: "Title", across: true },
      { name: "text", label: "Note", long: true },
      { name: "label", label: "Labels", hint: "to find it by", rare: true },
      { name: "about", label: "Files", hint: "that it is about", rare: true },
    ],
  },
};
