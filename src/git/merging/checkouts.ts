import { existsSync } from "node:fs";
import { join } from "node:path";
import { lineIfReadable } from "../../files/read.ts";
import { refOfBranch } from "../../model/naming.ts";
import type { Site } from "../../ports/sites.ts";
import { isCheckedOut } from "../refs.ts";
import { worktreesOf } from "../repository-files.ts";
import type { Checkout } from "../run-git.ts";
import { operationIn, type UnfinishedOperation } from "../unfinished-operation.ts";

/** The worktrees that a move of a branch is about. */
export interface Involved {
  checkouts: Checkout[];
  /** Where something is under way that began on the branch, though HEAD may be elsewhere meanwhile. */
  busy: { checkout: Checkout; operation: UnfinishedOperation }[];
  /** Checked out in a locked worktree whose folder is not there, such as one on another disk. */
  unreachable: string[];
}

export function involvedCheckouts(site: Site, branch: string): Involved {
  const ref = refOfBranch(branch);
  const involved: Involved = { checkouts: [], busy: [], unreachable: [] };
  for (const { root, gitDir } of worktreesOf(site)) {
    const onBranch = isCheckedOut({ gitDir, commonDir: site.commonDir }, ref);
    if (!onBranch && !beganOn(gitDir, branch)) continue;
    if (root === undefined) continue;
    if (!existsSync(root)) {
      if (onBranch && existsSync(join(gitDir, "locked"))) involved.unreachable.push(root);
      continue;
    }
    if (onBranch) involved.checkouts.push({ root, gitDir });
    const operation = operationIn(gitDir);
    if (operation) involved.busy.push({ checkout: { root, gitDir }, operation });
  }
  return involved;
}

/** A rebase or bisect stands on commits without a branch, and comes back to the branch when it ends. */
function beganOn(gitDir: string, branch: string): boolean {
  const rebased = ["rebase-merge", "rebase-apply"].map((name) =>
    lineIfReadable(join(gitDir, name, "head-name")),
  );
  return rebased.includes(refOfBranch(branch)) || lineIfReadable(join(gitDir, "BISECT_START")) === branch;
}
