import type { TaskStatus } from "../../../src/model/records/task.ts";

/** One task of the project as somebody would tell it; ids of other records are written `{key}` or `{key/D1}`. */
export interface Story {
  key: string;
  area: string;
  title: string;
  objective: string;
  plan?: string;
  status: TaskStatus;
  labels?: string[];
  depends?: string[];
  touched?: string[];
  decisions?: [what: string, why: string, ...changed: string[]][];
  findings?: [
    severity: "high" | "medium" | "low",
    file: string,
    text: string,
    fix: string,
    status?: "open",
  ][];
  handoffs?: [what: string, next: string, changed: string[], blocker?: string][];
}

export interface NoteStory {
  key: string;
  title: string;
  text: string;
  labels: string[];
  files: string[];
}
