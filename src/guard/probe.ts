import { existsSync } from "node:fs";
import { formatOf } from "../git/format.ts";
import { emptyTree, idLength } from "../git/object-ids.ts";
import { Git } from "../git/run-git.ts";
import { listWorktrees } from "../git/worktrees/entries.ts";
import type { GuardedSite } from "./policy.ts";

/** The guard refuses to have this ref made, and says so in these words; nobody else knows either. */
const PROBE = "refs/pawl-probe";
const ANSWER = "pawl: the guard is active.";

/**
 * Whether the guard is really asked when a ref is about to change in this worktree. The change is prepared and then
 * given up, so that nothing comes of it when nobody refuses.
 */
export function answers(git: Git, commonDir: string): boolean {
  const tree = emptyTree(idLength(formatOf(commonDir).objects));
  const stdin = `start\ncreate ${PROBE} ${tree}\nprepare\nabort\n`;
  const { code, err } = git.askSync(["update-ref", "--stdin"], stdin);
  return code !== 0 && err.includes(ANSWER);
}

/** Wherever somebody could run git, with this very environment: every worktree that is there, and a bare repository itself. */
export function workplaces({ commonDir, mainRoot, env }: GuardedSite): { where: string; git: Git }[] {
  const bare = { where: commonDir, git: Git.of("user", env, commonDir) };
  const worktrees = listWorktrees(commonDir, mainRoot)
    .filter((one) => existsSync(one.path))
    .map((one) => ({ where: one.path, git: Git.in("user", env, one.path) }));
  return [...(mainRoot === undefined ? [bare] : []), ...worktrees];
}

/** What git makes of `core.hooksPath` there; nothing where a task that is started or finished has taken its worktree away. */
export function settingIn(where: string, git: Git) {
  const args = ["config", "-z", "--show-scope", "--show-origin", "--type=path", "--get", "core.hooksPath"];
  try {
    const [scope, origin = "", value = ""] = git.askSync(args).out.split("\0");
    return { scope, origin, value };
  } catch (error) {
    if (existsSync(where)) throw error;
    return undefined;
  }
}
