import { readFileSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import { suspect } from "../guard/quick-look.ts";
import type { Environment } from "../model/environment.ts";
import type { Home } from "../store/layout.ts";
import { isInstalled, NOT_INSTALLED } from "./installed.ts";

/** For commands that may not take longer than a few looks at files; more is loaded only when something is wrong. */
export async function guardWarnings(place: Place, env: Environment, home: Home): Promise<string[]> {
  const suspicions = suspect(place, env);
  if (suspicions === undefined && !(isRecorded(home) && !isThere(place)))
    return isInstalled(place) ? [] : [NOT_INSTALLED];
  const { lookCloser } = await import("../guard/look-closer.ts");
  return lookCloser(place, suspicions, env);
}

const isThere = ({ commonDir }: Place) => namesIfPresent(join(commonDir, "pawl")).includes("before");

/** The records say that this clone is guarded; read as text, because all that is asked is whether a word is there. */
function isRecorded({ state, clone }: Home): boolean {
  if (clone === "") return false;
  const folder = join(state, "repos");
  return namesIfPresent(folder).some((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return /^guarded:[^\n]*(?:\n[ \t-][^\n]*)*/m.exec(text)?.[0].includes(clone) === true;
  });
}
