import { namesIfPresent, textIfPresent, textIfReadable } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import { isGuarded } from "../git/guard-files.ts";
import { suspect } from "../guard/quick-look.ts";
import type { Environment } from "../model/environment.ts";
import type { Home } from "../store/layout.ts";
import { isInstalled, NOT_INSTALLED } from "./installed.ts";

/** For commands that may not take longer than a few looks at files; more is loaded only when something is wrong. */
export async function guardWarnings(place: Place, env: Environment, home: Home): Promise<string[]> {
  const suspicions = suspect(place, env);
  if (suspicions === undefined && !(isRecorded(home) && !isGuarded(place.commonDir)))
    return isInstalled(place) ? wiped(place) : [NOT_INSTALLED];
  const { lookCloser } = await import("../guard/look-closer.ts");
  return lookCloser(place, suspicions, env);
}

/** The files say that pawl guards this repository, and this clone has no guard: wiped, or never installed here. */
function wiped(place: Place): string[] {
  if (isGuarded(place.commonDir) || place.root === undefined) return [];
  const ledger = textIfReadable(`${place.root}/.pawl/lock.json`) ?? "";
  return /"profile":\s*"all"/.test(ledger) ? [NO_GUARD] : [];
}

const NO_GUARD =
  "The files of this repository say that pawl guards it, but this clone has no guard: it was never installed here, or somebody removed it. To install it: pawl install";

/** The records say that this clone is guarded; read as text, because all that is asked is whether a word is there. */
function isRecorded({ state, clone }: Home): boolean {
  if (clone === "") return false;
  const folder = `${state}/repos`;
  return namesIfPresent(folder).some((name) => {
    const text = textIfPresent(`${folder}/${name}`) ?? "";
    return /^guarded:[^\n]*(?:\n[ \t-][^\n]*)*/m.exec(text)?.[0].includes(clone) === true;
  });
}
