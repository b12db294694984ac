import type { HistoryGit } from "./history-git.ts";

/**
 * Whether `refs/remotes/origin/` holds what this clone fetched. To a bare repository anybody who may push can push refs of
 * that name, beside the branches that people get, and a mirror copies them. So there they count only where the settings
 * say that a fetch writes them.
 */
export async function hasFetchedCopies(git: HistoryGit): Promise<boolean> {
  if (git.site.mainRoot !== undefined) return true;
  const { out } = await git.ask(["config", "--get-all", "remote.origin.fetch"]);
  return out.split("\n").some((spec) => spec.includes(":refs/remotes/origin/"));
}
