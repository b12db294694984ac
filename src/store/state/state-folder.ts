import { rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent, namesIfReadable, pathsIfPresent } from "../../files/read.ts";
import type { Place } from "../../git/discover.ts";
import { Git } from "../../git/run-git.ts";
import type { Environment } from "../../model/environment.ts";
import { step } from "../../model/steps.ts";
import type { StateFolder } from "../../ports/state-folder.ts";
import { type Home, LOCAL } from "../layout.ts";
import { isHomeOf, readLinks, repositoryName } from "../links.ts";
import { setFileAside } from "../set-aside.ts";
import { dropAll, expectOurs } from "./forget-state.ts";

export function openStateFolder(place: Place, home: Home, env: Environment): StateFolder {
  const repo = { state: home.state, gitDir: home.gitDir, env };
  return {
    foreign: !isHomeOf(home, place),
    shown: home.shown,
    count: () => count(place, home),
    damage: async () => (await import("./repair-tip.ts")).damageOf(repo),
    async repair() {
      const { repairTip } = await import("./repair-tip.ts");
      const { commitState } = await import("./state-repository.ts");
      const found = repairTip(repo);
      await commitState(repo, "What the records are, after a repair");
      return found;
    },
    async bringBack(paths) {
      const { bringBack } = await import("./bring-back.ts");
      return bringBack(home, env, paths);
    },
    setAside: (paths) => paths.map((path) => ({ path, to: setFileAside(home, path) })),
    checkRemovable: () => expectOurs(home, place),
    remove() {
      removeRefs(place, env);
      dropAll(home, place);
    },
  };
}

function count(place: Place, home: Home): { tasks: number; others: number } {
  const own = `repos/${repositoryName(home, place)}.md`;
  const others = pathsIfPresent(home.state)
    .filter(
      (path) => !/^(?:\.git|events|tasks)(?:\/|$)/.test(path) && !path.startsWith(LOCAL) && path !== own,
    )
    .filter((path) => statSync(join(home.state, path), { throwIfNoEntry: false })?.isFile());
  return {
    tasks: namesIfPresent(join(home.state, "tasks")).length,
    others: others.length + readLinks(home).length,
  };
}

/** Saved diffs are only reached through the records. */
function removeRefs({ commonDir, mainRoot }: Place, env: Environment): void {
  const git = Git.at("user", env, { commonDir, mainRoot }).with({ GIT_DIR: commonDir });
  const listed = git.askSync(["for-each-ref", "--format=delete %(refname) %(objectname)", "refs/pawl/"]);
  if (listed.code === 0 && listed.out !== "") {
    step("uninstall refs");
    git.askSync(["update-ref", "--stdin"], listed.out);
  }
  dropEmpty(join(commonDir, "refs", "pawl"));
}

/** Git leaves the folders of refs that are gone; what is not empty is left as well. */
function dropEmpty(folder: string): void {
  for (const name of namesIfReadable(folder)) dropEmpty(join(folder, name));
  try {
    rmdirSync(folder);
  } catch {
    // Not there, not empty, or not a folder: it is none of ours.
  }
}
