import { rmSync, statSync } from "node:fs";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import { Git } from "../run-git.ts";

/** For what is only ours: no hook of the user's sees a worktree being made in a place that it will not stay in. */
export const WITHOUT_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** Git in a repository as a whole, by the user's own settings. */
export class SiteGit extends Git {
  readonly site: Site;

  constructor(site: Site, env: Environment) {
    super("user", env, ...Git.whole(site));
    this.site = site;
  }
}

const LOCK_IS_STALE_MS = 1_000;

/** Git holds a lock of its own for milliseconds; one that is still there after this was left by a git that was killed. */
export async function outwaitLock(path: string): Promise<void> {
  for (;;) {
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (touched === undefined) return;
    const age = Date.now() - touched;
    if (age > LOCK_IS_STALE_MS || age < 0) break;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  rmSync(path, { force: true });
}
