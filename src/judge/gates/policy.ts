import type { Check, Checks, Config } from "../../model/config.ts";
import { matchesPattern } from "../../model/naming.ts";
import { protectedPatterns } from "../../model/protection.ts";

/**
 * The policy in force is the one committed on the base; a copy in a worktree can only add to it. While the base has
 * none, the one in the main worktree stands for it.
 */
export function requiredChecks(committed: Config | undefined, copies: readonly Config[]): Checks {
  const all = new Map<string, Check>();
  for (const { checks } of committed ? [committed, ...copies] : copies)
    for (const check of checks === "none" ? [] : checks) if (!all.has(check.name)) all.set(check.name, check);
  // That nothing has to be checked is for the committed policy to say, and for no copy of it.
  return all.size === 0 && committed?.checks === "none" ? "none" : [...all.values()];
}

/** Whether a branch is protected: by the policy in force, by a copy that adds to it, or by being the default one. */
export function isProtected(
  branch: string,
  committed: Config | undefined,
  copies: readonly Config[],
  defaultBranch: string | undefined,
): boolean {
  return protectedPatterns(committed, copies, defaultBranch).some((one) => matchesPattern(one, branch));
}
