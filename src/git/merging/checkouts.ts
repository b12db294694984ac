import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { lineIfReadable, namesIfPresent } from "../../files/read.ts";
import type { Site } from "../../ports/sites.ts";
import type { Checkout } from "./merging-git.ts";

/** What git leaves in a worktree's git directory while something is under way there. */
const OPERATIONS: readonly [file: string, what: string, end: string][] = [
  ["MERGE_HEAD", "a merge", "git merge --continue"],
  ["CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue"],
  ["REVERT_HEAD", "a revert", "git revert --continue"],
  ["rebase-merge", "a rebase", "git rebase --continue"],
  ["rebase-apply", "a rebase or am", "git rebase --continue"],
  ["sequencer", "a cherry-pick or revert of several commits", "git cherry-pick --continue"],
  ["BISECT_LOG", "a bisect", "git bisect reset"],
];

export interface Operation {
  file: string;
  what: string;
  end: string;
}

/** The worktrees that a move of a branch is about. */
export interface Involved {
  checkouts: Checkout[];
  /** Where something is under way that began on the branch, though HEAD may be elsewhere meanwhile. */
  busy: { checkout: Checkout; operation: Operation }[];
  /** Checked out in a locked worktree whose folder is not there, such as one on another disk. */
  unreachable: string[];
}

export function involvedCheckouts(site: Site, branch: string): Involved {
  const ref = `refs/heads/${branch}`;
  const involved: Involved = { checkouts: [], busy: [], unreachable: [] };
  for (const { root, gitDir, locked } of worktreesOf(site)) {
    const onBranch = resolvesTo(site.commonDir, gitDir, ref);
    if (!onBranch && !beganOn(gitDir, branch)) continue;
    if (root === undefined) continue;
    if (!existsSync(root)) {
      if (onBranch && locked) involved.unreachable.push(root);
      continue;
    }
    if (onBranch) involved.checkouts.push({ root, gitDir });
    const operation = operationIn(gitDir);
    if (operation) involved.busy.push({ checkout: { root, gitDir }, operation });
  }
  return involved;
}

interface Worktree {
  root: string | undefined;
  gitDir: string;
  locked: boolean;
}

function worktreesOf(site: Site): Worktree[] {
  const folder = join(site.commonDir, "worktrees");
  const linked = namesIfPresent(folder).sort();
  return [
    { root: site.mainRoot, gitDir: site.commonDir, locked: false },
    ...linked.map((name) => {
      const gitDir = join(folder, name);
      return { root: rootOf(site, gitDir), gitDir, locked: existsSync(join(gitDir, "locked")) };
    }),
  ];
}

/** The folder that a git directory of this repository belongs to, as it is now: worktrees can be moved. */
export function rootOf(site: Site, gitDir: string): string | undefined {
  if (gitDir === site.commonDir) return site.mainRoot;
  const link = lineIfReadable(join(gitDir, "gitdir"));
  return link && dirname(resolve(gitDir, link));
}

/** Follows branches that are only another name of a branch, as git does. */
function resolvesTo(commonDir: string, gitDir: string, ref: string): boolean {
  let line = lineIfReadable(join(gitDir, "HEAD"));
  for (let hops = 0; hops < 5; hops++) {
    const target = /^ref: (.+)$/.exec(line ?? "")?.[1];
    if (target === undefined) return false;
    if (target === ref) return true;
    line = lineIfReadable(join(commonDir, target));
  }
  return false;
}

/** A rebase or bisect stands on commits without a branch, and comes back to the branch when it ends. */
function beganOn(gitDir: string, branch: string): boolean {
  const rebased = ["rebase-merge", "rebase-apply"].map((name) =>
    lineIfReadable(join(gitDir, name, "head-name")),
  );
  return rebased.includes(`refs/heads/${branch}`) || lineIfReadable(join(gitDir, "BISECT_START")) === branch;
}

function operationIn(gitDir: string): Operation | undefined {
  const found = OPERATIONS.find(([file]) => existsSync(join(gitDir, file)));
  return found && { file: found[0], what: found[1], end: found[2] };
}
