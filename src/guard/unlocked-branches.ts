import { readGrants, unlockIn } from "../git/guard-files.ts";
import { branchOfRef } from "../model/naming.ts";
import { plural } from "../model/text.ts";

/** A protected branch that a human has opened for a while. */
export interface UnlockedBranch {
  branch: string;
  minutesLeft: number;
}

export function unlockedBranches(commonDir: string): UnlockedBranch[] {
  const now = Date.now();
  return readGrants(commonDir, "unlock").flatMap(({ ref, said }) => {
    const { until } = unlockIn(said);
    return until > now && ref.startsWith("refs/heads/")
      ? [{ branch: branchOfRef(ref), minutesLeft: Math.ceil((until - now) / 60_000) }]
      : [];
  });
}

export const tellUnlocked = ({ branch, minutesLeft }: UnlockedBranch) =>
  `${branch} is unlocked for ${plural(minutesLeft, "more minute")}: anything that moves it until then counts as done by a human. To close it: pawl unlock ${branch} --end`;
