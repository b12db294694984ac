import type { Config } from "./config.ts";
import { branchOfRef, matchesPattern } from "./naming.ts";
import type { RepositoryRecord } from "./records/run.ts";

/** What most people call the branch that matters, where neither the policy nor the remote names one. */
export const USUAL = ["main", "master"];

/**
 * The patterns of protected branches. The policy in force is the one that is committed on the protected tip; copies in
 * worktrees may add to it and take nothing away. Where it names no branch, the default one is meant.
 */
export function protectedPatterns(
  committed: Config | undefined,
  copies: readonly Config[],
  defaultBranch: string | undefined,
): string[] {
  const named = committed?.protected ?? [];
  const base = named.length > 0 ? named : defaultBranch ? [defaultBranch] : USUAL;
  return [...new Set([...base, ...copies.flatMap((copy) => copy.protected)])];
}

/** A branch that has no baseline, under a name that was protected before it was there: what it began with has to be explained. */
export const cameLater = (
  ref: string,
  { baseline, protects }: Pick<RepositoryRecord, "baseline" | "protects">,
): boolean =>
  baseline.length > 0 &&
  !baseline.some((one) => one.ref === ref) &&
  protects.some((one) => matchesPattern(one, branchOfRef(ref)));
