import type { Kind } from "./record.ts";

/** Paths of records inside the state folder, with forward slashes on every system. */
export const taskFile = (task: string) => `tasks/${task}/task.md`;
export const partFile = (kind: Kind, task: string, part: string) => `tasks/${task}/${kind.plural}/${part}.md`;
export const partFolder = (kind: Kind, task: string) => `tasks/${task}/${kind.plural}`;
export const noteFile = (note: string) => `notes/${note}.md`;
export const touchedFile = (task: string, clone: string) => `tasks/${task}/touched/${clone}.md`;
export const eventFile = (clone: string, now: string) => `events/${clone}/${now.slice(0, 7)}.jsonl`;
