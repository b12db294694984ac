import { statSync } from "node:fs";
import { namesIfReadable, textIfPresent } from "../files/read.ts";
import { configValue } from "../git/config-file.ts";
import {
  hasUnlocks,
  hooksDir,
  isGuarded,
  lastPassed,
  readStamps,
  trippedFolder,
} from "../git/guard-files.ts";
import { fetchedTips } from "../git/refs.ts";
import type { Environment } from "../model/environment.ts";
import { branchOfRef } from "../model/naming.ts";

/*
 * What a few looks at files tell about the guard, for commands that have no time for more. Nothing but the file system
 * is loaded for it.
 */

/** Whoever writes to a file, or changes its mode, cannot help changing this. */
export function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? "absent" : `${stat.size} ${stat.mode} ${stat.ctimeMs}`;
  } catch {
    // A file where a folder was: git has taken to keeping refs in another way.
    return "absent";
  }
}

const changed = (commonDir: string, stamps: Record<string, string>) =>
  Object.keys(stamps).filter((path) => stampOf(`${commonDir}/${path}`) !== stamps[path]);

/** The policy, or the place, may be another one than the hooks were made for; or git may be told to use others. */
export function mayBeOutdated(commonDir: string): boolean {
  if (!isGuarded(commonDir)) return false;
  const stamps = readStamps(commonDir);
  if (stamps?.at !== commonDir || stamps.per_worktree === undefined) return true;
  return changed(commonDir, { ...stamps.inputs, ...stamps.config }).length > 0;
}

export interface Suspicions {
  /** Files of the guard that are not as they were left; what they say has to be looked at. */
  files: string[];
  config: boolean;
  /** The environment, or the worktree we stand in, names other hooks. */
  override: string | undefined;
  /** Branches that moved while the guard was switched off. */
  tripped: string[];
  /** Some branch was unlocked, and nobody has closed it yet. */
  unlocked: boolean;
  /** A protected branch is elsewhere than the remote's was when it was last looked at, and may have been merged into here. */
  apart: boolean;
}

/** Undefined where there is no guard, or nothing to suspect. */
export function suspect(
  { commonDir, gitDir }: { commonDir: string; gitDir: string },
  env: Environment,
): Suspicions | undefined {
  if (!isGuarded(commonDir)) return undefined;
  const stamps = readStamps(commonDir);
  const found: Suspicions = {
    files: stamps === undefined ? ["pawl/stamps"] : changed(commonDir, stamps.hooks),
    config: stamps?.at !== commonDir || changed(commonDir, stamps.config).length > 0,
    override: overriding(commonDir, gitDir, env),
    tripped: namesIfReadable(trippedFolder(commonDir)),
    unlocked: hasUnlocks(commonDir),
    apart: isApart(commonDir),
  };
  const { config, override, unlocked, apart } = found;
  const none = found.files.length + found.tripped.length === 0 && !config && !override && !unlocked && !apart;
  return none ? undefined : found;
}

/** Only what an approval moved is of interest, and that is in a list of ours. */
export function isApart(commonDir: string): boolean {
  return lastPassed(commonDir).some(
    (last) =>
      last.why === "approved" &&
      fetchedTips(commonDir, branchOfRef(last.ref)).some((tip) => tip !== last.new),
  );
}

/** What git takes over everything that a repository's own config says. */
function overriding(commonDir: string, gitDir: string, env: Environment): string | undefined {
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  for (let at = 0; at < count; at++)
    if (env[`GIT_CONFIG_KEY_${at}`]?.toLowerCase() === "core.hookspath") return "GIT_CONFIG_COUNT";
  if (/core\.hookspath/i.test(env.GIT_CONFIG_PARAMETERS ?? "")) return "GIT_CONFIG_PARAMETERS";
  const own = `${gitDir}/config.worktree`;
  return namesOurFolder(commonDir, textIfPresent(own) ?? "") === false ? own : undefined;
}

/** Whether the last word of a configuration on where hooks are is ours; undefined where it says nothing of it. */
export function namesOurFolder(commonDir: string, text: string): boolean | undefined {
  const value = configValue(text, "core", "hookspath");
  return value === undefined ? undefined : value === hooksDir(commonDir).replaceAll("\\", "/");
}
