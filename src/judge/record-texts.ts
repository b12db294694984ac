import { partFile, taskFile } from "../model/paths.ts";
import { TASK_PARTS } from "../model/records/parts.ts";
import { run } from "../model/records/run.ts";
import type { Reader } from "../ports/ports.ts";

/** The text of every record of a task that its events have to confirm, readable or not. */
export function recordTexts(reader: Reader, task: string): { path: string; text: string }[] {
  const parts = [...TASK_PARTS, run].flatMap((kind) =>
    reader
      .partNames(kind, task)
      .map((name) => name.replace(/\.md$/, ""))
      .filter((name) => /^[A-Z]\d+$/.test(name))
      .map((name) => partFile(kind, task, name)),
  );
  return [taskFile(task), ...parts].flatMap((path) => {
    const text = reader.fileText(path);
    return text === undefined ? [] : [{ path, text }];
  });
}
