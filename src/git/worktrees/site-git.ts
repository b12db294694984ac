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
