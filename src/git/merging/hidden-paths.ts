import type { Git } from "../run-git.ts";
import type { ChangedPath } from "./changed-paths.ts";

/** Of the paths that a move touches, those that git was told not to look at. */
export interface HiddenPaths {
  /** assume-unchanged */
  unchanged: string[];
  /** skip-worktree */
  skipped: string[];
}

export async function hiddenPaths(git: Git, changed: readonly ChangedPath[]): Promise<HiddenPaths> {
  const touched = new Set(changed.filter((one) => one.old).map((one) => one.path));
  const listed = await git.names("The tracked files could not be listed", ["ls-files", "-v", "-z"]);
  const marked = (tag: RegExp) =>
    listed
      .filter((entry) => tag.test(entry))
      .map((entry) => entry.slice(2))
      .filter((path) => touched.has(path));
  return { unchanged: marked(/^[a-z] /), skipped: marked(/^[sS] /) };
}
