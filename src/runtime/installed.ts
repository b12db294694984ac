import { existsSync } from "node:fs";
import { recall, remember } from "../files/cache.ts";
import type { Place } from "../git/discover.ts";
import { isGuarded, readGuardedTips } from "../git/guard-files.ts";
import type { Environment } from "../model/environment.ts";
import { branchOfRef } from "../model/naming.ts";
import { LEDGER_FILE } from "../model/paths.ts";
import { stateExists } from "../store/home.ts";
import type { Home } from "../store/layout.ts";
import { isLost } from "../store/state/is-complete.ts";

/** Whether anybody has installed pawl in this repository: in this clone, or in the files that it tracks. */
export const isInstalled = (place: Place): boolean =>
  isInstalledHere(place) || (place.root !== undefined && existsSync(`${place.root}/${LEDGER_FILE}`));

/** Whether somebody has installed pawl in this very clone, where no branch and no colleague can have put the signs. */
export const isInstalledHere = ({ commonDir }: Pick<Place, "commonDir">): boolean =>
  isGuarded(commonDir) || hasInstalledFiles(commonDir);

const hasInstalledFiles = (commonDir: string) => existsSync(`${commonDir}/pawl/installed.json`);

/** Asked of git once for each commit that has them: what a commit has, it keeps. */
export async function isUncommitted(
  { place, home }: { place: Place; home: Home },
  env: Environment,
  commit: string | undefined,
): Promise<boolean> {
  if (place.root === undefined || !existsSync(`${place.root}/${LEDGER_FILE}`)) return false;
  if (commit === undefined) return true;
  if (recall<boolean>(home.local, "installed files", commit)) return false;
  const { Git } = await import("../git/run-git.ts");
  const { code } = await Git.of("quiet", env, place.commonDir).ask([
    "cat-file",
    "-e",
    `${commit}:${LEDGER_FILE}`,
  ]);
  if (code === 0) remember(home.local, "installed files", commit, true);
  return code !== 0;
}

/** Neither installed here nor ever used: whoever calls a command may not know that nothing guards the repository. */
export const isUntouched = ({ place, home }: { place: Place; home: Home }) =>
  !isInstalled(place) && !stateExists(home) && !isLost(home);

/**
 * The branches that have lost the ledger, where every guarded one has: the project has dropped pawl, and this clone has not.
 * Only for telling; a few looks at files answer it in a clone that still has the ledger.
 */
export async function droppedFrom(place: Place, env: Environment): Promise<string[]> {
  const { commonDir, root } = place;
  if (
    !isGuarded(commonDir) ||
    !hasInstalledFiles(commonDir) ||
    root === undefined ||
    existsSync(`${root}/${LEDGER_FILE}`)
  )
    return [];
  const refs = readGuardedTips(commonDir).map((one) => one.ref);
  const repository = (await import("../git/repository.ts")).openRepository(place, env);
  for (const ref of refs) if ((await repository.lineAt(ref, LEDGER_FILE, 1)) !== undefined) return [];
  return refs.map(branchOfRef);
}

export const NOT_INSTALLED =
  "Pawl is not installed in this repository: nothing guards its branches, and agents do not know of it. Run: pawl install";
