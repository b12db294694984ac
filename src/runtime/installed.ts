import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../git/discover.ts";
import { stateExists } from "../store/home.ts";
import type { Home } from "../store/layout.ts";
import { isLost } from "../store/state/is-complete.ts";

/** Whether anybody has installed pawl in this repository: in this clone, or in the files that it tracks. */
export function isInstalled({ commonDir, root }: Place): boolean {
  const signs = [join(commonDir, "pawl", "before"), join(commonDir, "pawl", "installed.json")];
  if (root !== undefined) signs.push(join(root, ".pawl", "lock.json"));
  return signs.some((path) => existsSync(path));
}

/** Neither installed here nor ever used: whoever calls a command may not know that nothing guards the repository. */
export const isUntouched = ({ place, home }: { place: Place; home: Home }) =>
  !isInstalled(place) && !stateExists(home) && !isLost(home);

export const NOT_INSTALLED =
  "Pawl is not installed in this repository: nothing guards its branches, and agents do not know of it. Run: pawl install";
