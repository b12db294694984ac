import { existsSync } from "node:fs";
import { devNull } from "node:os";
import { delimiter, join } from "node:path";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import { Git } from "../run-git.ts";

/** Git that shows the commits of a repository as their objects are, also where the clone claims to end. */
export class HistoryGit extends Git {
  readonly site: Site;

  constructor(site: Site, env: Environment) {
    const { commonDir } = site;
    const isCut = existsSync(join(commonDir, "shallow"));
    const whole: Record<string, string> = isCut ? { GIT_SHALLOW_FILE: `${devNull}/none` } : {};
    super("history", env, commonDir, { GIT_DIR: commonDir, ...whole });
    this.site = site;
  }

  /** For a git that reads this repository's objects and writes its own to another folder. */
  writingTo(folder: string) {
    const own = this.env.GIT_OBJECT_DIRECTORY ?? join(this.site.commonDir, "objects");
    // In quotes, because a path may have in it what divides one from the next.
    const others = [JSON.stringify(own), this.env.GIT_ALTERNATE_OBJECT_DIRECTORIES].filter(Boolean);
    return { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: others.join(delimiter) };
  }

  must(args: readonly string[], stdin?: string): Promise<string> {
    return this.expect(`The history of ${this.site.name} could not be read`, args, stdin);
  }
}
