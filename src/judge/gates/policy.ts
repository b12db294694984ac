import type { Check, Checks, Config } from "../../model/config.ts";
import { matchesPattern } from "../../model/naming.ts";
import { protectedPatterns } from "../../model/protection.ts";

/**
 * The policy in force is the one committed on the base; a copy in a worktree can only add to it. While the
 * base has none, the main worktree's copy applies.
 */
export function requiredChecks(committed: Config | undefined, copies: readonly Config[]): Checks {
  const all = new Map<string, Check>();
  for (const { checks } of committed ? [committed, ...copies] : copies)
    for (const check of checks === "none" ? [] : checks) if (!all.has(check.name)) all.set(check.name, check);
  // Only the committed policy may say that nothing has to be checked, never a copy.
  return all.size === 0 && committed?.checks === "none" ? "none" : [...all.values()];
}

/** Whether the policy in force or a copy that adds to it protects a branch, or it is the default one. */
export function isProtected(
  branch: string,
  committed: Config | undefined,
  copies: readonly Config[],
  defaultBranch: string | undefined,
): boolean {
  return protectedPatterns(committed, copies, defaultBranch).some((one) => matchesPattern(one, branch));
}
