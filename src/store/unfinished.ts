import { namesIfPresent } from "../files/read.ts";
import { claimsDir, type Home, journalDir, mergingDir, runsDir } from "./layout.ts";

/** True while a killed process's work waits for the next write to finish it. */
export function hasUnfinishedWork(home: Home): boolean {
  return namesIfPresent(journalDir(home)).some((name) => name.endsWith(".json"));
}

/** True while a merge is under way, or one that was cut off waits for the next write to settle it. */
export function hasUnfinishedMerges(home: Home): boolean {
  return namesIfPresent(mergingDir(home)).some((name) => name.endsWith(".json"));
}

/** True while an agent runs on this machine, or one that has ended waits to be written down. */
export function hasOpenRuns(home: Home): boolean {
  return namesIfPresent(`${runsDir(home)}/open`).length > 0;
}

/** True while a task is begun or ended whose claim others can see, or a kill has left one that nobody works on. */
export function hasMarkedClaims(home: Home): boolean {
  return namesIfPresent(`${claimsDir(home)}/marked`).length > 0;
}
