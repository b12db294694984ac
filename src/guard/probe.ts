import { existsSync } from "node:fs";
import { EMPTY_TREE } from "../git/object-ids.ts";
import { askGitSync, type GitCall } from "../git/run-git.ts";
import { listWorktrees } from "../git/worktrees/entries.ts";
import type { GuardedSite } from "./policy.ts";

/** The guard refuses to have this ref made, and says so in these words; nobody else knows either. */
const PROBE = "refs/pawl-probe";
const ANSWER = "pawl: the guard is on duty.";

/**
 * Whether the guard is really asked when a ref is about to change in this worktree. The change is prepared and then
 * given up, so that nothing comes of it when nobody refuses.
 */
export function answers(workplace: GitCall): boolean {
  const stdin = `start\ncreate ${PROBE} ${EMPTY_TREE}\nprepare\nabort\n`;
  const { code, err } = askGitSync(["update-ref", "--stdin"], { ...workplace, stdin });
  return code !== 0 && err.includes(ANSWER);
}

/** Wherever somebody could run git: every worktree that is there, and a bare repository itself. */
export function workplaces({ commonDir, mainRoot, env }: GuardedSite): GitCall[] {
  const bare = { cwd: commonDir, env, extra: { GIT_DIR: commonDir } };
  const worktrees = listWorktrees(commonDir, mainRoot).map((one) => ({ cwd: one.path, env }));
  return [...(mainRoot === undefined ? [bare] : []), ...worktrees.filter((one) => existsSync(one.cwd))];
}
