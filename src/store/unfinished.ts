import { namesIn } from "./files.ts";
import { type Home, journalDir } from "./layout.ts";

/** True while a killed process's work waits for the next write to finish it. */
export function hasUnfinishedWork(home: Home): boolean {
  return namesIn(journalDir(home)).some((name) => name.endsWith(".json"));
}
