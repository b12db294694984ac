import { APPROVERS_FILE } from "../../model/approvers.ts";
import { plural, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

/** What an uninstallation leaves because it is somebody's work or decision, each kind with the command that removes it. */
export async function whatStays(hands: Hands, site: Site): Promise<string[]> {
  const { worktrees, remotes, heads } = await (await hands.git.worktrees()).look(site);
  const runs = await hands.look((reader) => (reader.exists ? reader.runs(reader.taskNames()).runs : []));
  const bound = worktrees.filter((one) => one.task !== undefined && one.present);
  // A branch that was somebody's before the task came to it is no task's.
  const made = runs.flatMap((run) => run.repos.filter((one) => one.name === site.name && !one.adopted));
  const left = [...new Set(made.map((one) => one.branch))].filter((name) => heads.has(name)).sort();
  const published = [...remotes.keys()].filter((name) => /^[^/]+\/(?:pawl\/state$|task\/)/.test(name));
  return [
    ...bound.map(({ path, lock }) => {
      const unlock = lock === undefined ? "" : `git worktree unlock ${quoted(path)} && `;
      return `a worktree; to remove it: ${unlock}git worktree remove ${quoted(path)}`;
    }),
    ...(left.length === 0
      ? []
      : [
          `${plural(left.length, "task branch", "task branches")}; to delete: git branch -D ${left.map(quoted).join(" ")}`,
        ]),
    ...((await hasApprovers(hands, site))
      ? [`the approvers' keys; to remove them: git rm ${APPROVERS_FILE}`]
      : []),
    ...published.map((name) => {
      const [remote = "", branch = ""] = name.split(/\/(.*)/s);
      return `a branch on ${remote}; to delete it: git push ${quoted(remote)} --delete ${quoted(branch)}`;
    }),
  ];
}

async function hasApprovers(hands: Hands, site: Site): Promise<boolean> {
  const audits = await hands.git.audits();
  const tip = await audits.resolve(site, "HEAD");
  return tip !== undefined && (await audits.fileAt(site, tip, APPROVERS_FILE)) !== undefined;
}
