import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { explainFileError, removeIfEmpty } from "../../files/durable.ts";
import { withLock } from "../../files/intent-lock.ts";
import { namesIfPresent } from "../../files/read.ts";
import type { Place } from "../../git/discover.ts";
import { showLines } from "../../git/exclude.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import { remoteHasState, stateExists } from "../home.ts";
import { type Home, LOCAL, lockDir, mergingDir, rescuedDir } from "../layout.ts";
import { isHomeOf, readLinks } from "../links.ts";

/** Where the state and its history are taken before they are deleted, so that neither is ever there in part. */
const ASIDE = ["dropped-state", "dropped-history"] as const;
/** The program that runs this may lie there, and copies of the user's files; whoever put them there takes them away. */
const KEPT = ["runtime", "kept"];

/** Whether files of the state, by their paths, say nothing but that pawl was installed. */
type OnlyInstallation = (paths: readonly string[]) => boolean;

/** Whether the state may go with the installation: it is this repository's own, and nobody has written anything else. */
export function isForgettable(home: Home, place: Place, holdsOnlyInstallation: OnlyInstallation): boolean {
  if (!isHomeOf(home, place)) return false;
  if (!existsSync(home.state)) return !existsSync(home.gitDir);
  const others = [readLinks(home), namesIfPresent(mergingDir(home)), namesIfPresent(rescuedDir(home))];
  if (remoteHasState(home) || others.some((one) => one.length > 0)) return false;
  return holdsOnlyInstallation(filesOf(home.state));
}

function filesOf(state: string): string[] {
  return readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(state, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter((path) => path !== ".git" && !path.startsWith(`${LOCAL}/`));
}

/** Removes the state and whatever of it is in the git directory. Killed anywhere, the next uninstall finishes it. */
export function forgetState(home: Home, place: Place, holdsOnlyInstallation: OnlyInstallation): boolean {
  try {
    const gone = !existsSync(home.state);
    const drop = () => isForgettable(home, place, holdsOnlyInstallation) && dropAll(home, place);
    return gone ? drop() : withLock(lockDir(home), drop);
  } catch (error) {
    throw explainFileError(error, "The state folder could not be removed");
  }
}

/** What a state holds beside the logs of this machine. */
const OURS = [".git", LOCAL, "tasks", "notes", "repos", "unlocks", "events"];

/** A folder that may not be deleted is never deleted in part. */
export function expectOurs(home: Home, place: Place): void {
  // Throws for a link in place of any folder of it.
  const there = stateExists(home);
  if (!isHomeOf(home, place)) throw notOurs(`${home.state} is not the state of ${place.name}.`, home.state);
  const other = there ? readdirSync(home.state).find((name) => !OURS.includes(name)) : undefined;
  if (other !== undefined)
    throw notOurs(`${join(home.shown, other)} was not written by pawl.`, join(home.state, other));
}

const notOurs = (message: string, file: string) =>
  new Failure("refused", "not_ours_to_delete", `${message} Nothing of the state was deleted.`, {
    hint: "Move it where it belongs, then run the command again.",
    details: { file },
  });

/** Without asking which records are in it; but whatever is not a record of pawl's, or not where ours belong, stays. */
export function dropAll(home: Home, place: Place): true {
  expectOurs(home, place);
  const [state, history] = ASIDE.map((name) => join(home.local, name)) as [string, string];
  for (const path of [state, history]) rmSync(path, { recursive: true, force: true });
  // Without its folder the state would be brought back from its history; without its history there is none.
  if (existsSync(home.state)) {
    step("forget state");
    renameSync(home.state, state);
  }
  if (existsSync(home.gitDir)) {
    step("forget history");
    renameSync(home.gitDir, history);
  }
  removeIfEmpty(dirname(home.state));
  step("forget exclude");
  showLines(place.commonDir);
  step("forget folder");
  for (const name of namesIfPresent(home.local).filter((one) => !KEPT.includes(one)))
    rmSync(join(home.local, name), { recursive: true, force: true });
  removeIfEmpty(home.local);
  return true;
}
