import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { explainFileError } from "../../files/durable.ts";
import { withLock } from "../../files/intent-lock.ts";
import type { Place } from "../../git/discover.ts";
import { hideLines } from "../../git/exclude.ts";
import { publishedName } from "../../git/published-name.ts";
import type { Environment } from "../../model/environment.ts";
import { stateExists } from "../home.ts";
import { ensureClone, writeHome } from "../home-setup.ts";
import type { Home } from "../layout.ts";
import { keepName } from "../links.ts";
import { prepare } from "./state-repository.ts";

/** Makes the state repository on the first write, and whatever is missing of it later; safe to run eight at once. */
export function prepareState(home: Home, place: Place, env: Environment): string[] {
  try {
    if (!stateExists(home)) expectRoom(dirname(home.state));
    mkdirSync(home.local, { recursive: true });
    return withLock(join(home.local, "prepare.lock"), () => {
      const existed = stateExists(home);
      hideFromProject(home, place);
      const { restored } = prepare({ state: home.state, gitDir: home.gitDir, env });
      writeHome(home);
      keepName(home, place, () => publishedName(place, env));
      ensureClone(home.local);
      if (restored) return [`${home.shown} was missing and has been restored from its history.`];
      return existed ? [] : [`Created ${home.shown} for this project's records; git ignores it.`];
    });
  } catch (error) {
    throw explainFileError(error, "The state folder could not be created");
  }
}

/** Before anything else is written: where the records cannot be, nothing is left behind. Node's own way of making a whole path calls a read-only disk a missing folder. */
function expectRoom(folder: string): void {
  if (!existsSync(folder) && existsSync(dirname(folder))) mkdirOnce(folder);
  if (existsSync(folder)) accessSync(folder, constants.W_OK);
}

function mkdirOnce(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** info/exclude is not tracked and covers every branch and worktree, so the project never becomes dirty. */
function hideFromProject(home: Home, place: Place): void {
  if (!place.mainRoot) return;
  const inside = relative(place.mainRoot, home.state).replaceAll("\\", "/");
  if (inside === "" || inside.startsWith("..")) return;
  hideLines(place.commonDir, [`/${inside}/`]);
}
