import { isAbsolute, join, resolve } from "node:path";
import { sha256 } from "../files/digest.ts";
import { textIfPresent } from "../files/read.ts";
import { readConfig } from "../git/config-file.ts";
import { readTripped } from "../git/guard-files.ts";
import type { Environment } from "../model/environment.ts";
import { REPAIR, unguarded } from "../model/guard-policy.ts";
import { branchOfRef } from "../model/naming.ts";
import { readBefore } from "./before.ts";
import { overtakenMerges, tellOvertaken } from "./overtaken.ts";
import { canRun } from "./place.ts";
import { namesOurFolder, type Suspicions } from "./quick-look.ts";
import { tellUnlocked, unlockedBranches } from "./unlocked-branches.ts";

/** What a quick look suspected, looked at: only what is really wrong is told. Without suspicions the guard is gone. */
export function lookCloser(
  { commonDir, gitDir }: { commonDir: string; gitDir: string },
  suspicions: Suspicions | undefined,
  env: Environment,
): string[] {
  if (suspicions === undefined)
    return [unguarded("It was installed and is gone, although nobody ran pawl uninstall.", REPAIR)];
  const { override, config, files, tripped, unlocked, apart } = suspicions;
  const spoilt = files.filter((path) => isSpoilt(commonDir, path));
  return [
    ...(override === undefined ? [] : [unguarded(`${override} makes git use other hooks, or none.`)]),
    ...(config && !isInConfig(commonDir, gitDir)
      ? [unguarded("Git does not use its hooks: the configuration names others, or none.", REPAIR)]
      : []),
    ...(spoilt.length === 0
      ? []
      : [unguarded(`${spoilt.join(", ")} has changed since it was written.`, REPAIR)]),
    ...(tripped.length === 0 ? [] : readTripped(commonDir).map(({ ref }) => moved(ref))),
    ...(unlocked ? unlockedBranches(commonDir).map(tellUnlocked) : []),
    ...(apart ? overtakenMerges(commonDir, env).map(tellOvertaken) : []),
  ];
}

const moved = (ref: string) =>
  `${branchOfRef(ref)} is protected, and moved while the guard was switched off. See what came in: pawl audit`;

function isSpoilt(commonDir: string, path: string): boolean {
  const full = isAbsolute(path) ? path : join(commonDir, path);
  const known = readBefore(commonDir)?.digests[path];
  const text = textIfPresent(full);
  // What cannot be run is a setting; of those only their being there is known.
  if (known === undefined) return text === undefined && path !== "pawl/stamps";
  return text === undefined || !canRun(full) || sha256(text) !== known;
}

/** As git reads it: this worktree's own file has the last word, then the shared one with whatever it includes. */
function isInConfig(commonDir: string, gitDir: string): boolean {
  const textIn = (path: string) => textIfPresent(path) ?? "";
  const own = namesOurFolder(commonDir, textIn(join(gitDir, "config.worktree")));
  if (own !== undefined) return own;
  const shared = textIn(join(commonDir, "config"));
  const included = readConfig(shared)
    .filter(({ section, key }) => /^include(?:if |$)/.test(section) && key === "path")
    .map(({ value }) => textIn(resolve(commonDir, value)));
  // What is included may come before or after ours; other hooks in there are worth a word either way.
  return (
    namesOurFolder(commonDir, shared) === true &&
    !included.some((text) => namesOurFolder(commonDir, text) !== undefined)
  );
}
