import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StateFolder } from "../core/git/state-folder.ts";
import { step } from "../core/steps.ts";
import { makeFolder } from "../disk/durable.ts";
import type { Place } from "../git/discover.ts";
import { showLines } from "../git/exclude.ts";
import { askGitSync } from "../git/run-git.ts";
import { namesIn } from "../store/files.ts";
import { type Home, LOCAL } from "../store/layout.ts";
import { isHomeOf, readLinks, repositoryName } from "../store/links.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function openStateFolder(place: Place, home: Home, env: Environment): StateFolder {
  return {
    foreign: !isHomeOf(home, place),
    shown: home.shown,
    count: () => count(place, home),
    remove: () => remove(place, home, env),
  };
}

function count(place: Place, home: Home): { tasks: number; others: number } {
  const own = `repos/${repositoryName(home, place)}.md`;
  const all = existsSync(home.state) ? readdirSync(home.state, { recursive: true, encoding: "utf8" }) : [];
  const others = all
    .map((path) => path.replaceAll("\\", "/"))
    .filter(
      (path) => !/^(?:\.git|events|tasks)(?:\/|$)/.test(path) && !path.startsWith(LOCAL) && path !== own,
    )
    .filter((path) => statSync(join(home.state, path), { throwIfNoEntry: false })?.isFile());
  return { tasks: namesIn(join(home.state, "tasks")).length, others: others.length + readLinks(home).length };
}

/**
 * First the records, whose history would bring them back after a kill, then the history with everything else, by one
 * rename; what was renamed and not removed yet goes with the next run.
 */
function remove({ commonDir, mainRoot }: Place, { state, local }: Home, env: Environment): string[] {
  const aside = `${local}.removing`;
  rmSync(aside, { recursive: true, force: true });
  removeRefs(mainRoot ?? commonDir, commonDir, env);
  step("uninstall exclude");
  showLines(commonDir);
  step("uninstall state");
  rmSync(state, { recursive: true, force: true, maxRetries: 3 });
  removeIfEmpty(dirname(state));
  step("uninstall clone");
  if (existsSync(local)) renameSync(local, aside);
  const kept = join(aside, "kept");
  const copies = namesIn(kept).map((name) => join(local, "kept", name));
  if (copies.length > 0) {
    makeFolder(local);
    renameSync(kept, join(local, "kept"));
  }
  step("uninstall rest");
  rmSync(aside, { recursive: true, force: true, maxRetries: 3 });
  return copies;
}

/** Saved diffs are only reached through the records. */
function removeRefs(cwd: string, commonDir: string, env: Environment): void {
  const call = { cwd, env, extra: { GIT_DIR: commonDir } };
  const listed = askGitSync(["for-each-ref", "--format=delete %(refname) %(objectname)", "refs/pawl/"], call);
  if (listed.code !== 0 || listed.out === "") return;
  step("uninstall refs");
  askGitSync(["update-ref", "--stdin"], { ...call, stdin: listed.out });
}

function removeIfEmpty(folder: string): void {
  if (namesIn(folder).length > 0 || !existsSync(folder)) return;
  try {
    rmdirSync(folder);
  } catch {
    // Somebody has just put something there.
  }
}
