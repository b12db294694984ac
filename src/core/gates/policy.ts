import type { Check, Config } from "../config.ts";
import { matchesPattern } from "../naming.ts";

/**
 * The policy in force is the one committed on the base; a copy in a worktree can only add to it. While the base has
 * none, the one in the main worktree stands for it.
 */
export function requiredChecks(committed: Config | undefined, copies: readonly Config[]): Check[] {
  const all = new Map<string, Check>();
  for (const config of committed ? [committed, ...copies] : copies)
    for (const check of config.checks) if (!all.has(check.name)) all.set(check.name, check);
  return [...all.values()];
}

/** Whether a branch is protected: by any pattern, or by being what most people call the main one. */
export function isProtected(
  branch: string,
  configs: readonly Config[],
  defaultBranch: string | undefined,
): boolean {
  const patterns = configs.flatMap((config) => config.protected);
  const all = patterns.length > 0 ? patterns : defaultBranch ? [defaultBranch] : ["main", "master"];
  return all.some((pattern) => matchesPattern(pattern, branch));
}
