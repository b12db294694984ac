import { existsSync, readFileSync } from "node:fs";

/**
 * The text of a file of one line, such as git's own; undefined when there is none. Most of them are absent most of the
 * time, and an error costs more than a look.
 */
export function readLine(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
