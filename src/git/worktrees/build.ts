import { existsSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeIfEmpty } from "../../files/durable.ts";
import { occupied } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { KnownWorktree, Workplace } from "../../ports/worktrees.ts";
import { nothingLike } from "../object-ids.ts";
import { dropLockOnceStale } from "../ref-locks.ts";
import { lockOf, tipOf } from "../refs.ts";
import { rootOf } from "../repository-files.ts";
import { expectGit, Git } from "../run-git.ts";
import { besideOthers } from "./beside-others.ts";
import {
  halfMadeEntries,
  listWorktrees,
  samePath,
  scratchPlace,
  sideFolders,
  unfinishedPlace,
  worktreeAt,
} from "./entries.ts";
import { hideWorktree } from "./hide.ts";
import { copyHookFolder } from "./hook-folder.ts";
import { copyIncluded } from "./include.ts";
import { waitForGitToEnd } from "./processes.ts";
import { refOf } from "./refs.ts";
import { type SiteGit, WITHOUT_HOOKS } from "./site-git.ts";

/**
 * Makes the worktree in a side folder and moves it to its place when it is complete. Whoever is killed meanwhile leaves
 * something that nobody works in, and a worktree at its final place always is a whole one.
 */
export async function buildWorktree(git: SiteGit, place: Workplace, env: Environment): Promise<string[]> {
  const { commonDir, mainRoot } = git.site;
  const warnings: string[] = [];
  const unfinished = unfinishedPlace(place.path);
  await waitForGitToEnd(unfinished);
  hideWorktree(commonDir, mainRoot, place.path);
  if (worktreeAt(commonDir, place.path)?.branch !== place.branch) {
    if (occupied(place.path)) throw pathExists(place);
    if (!isComplete(commonDir, unfinished, place.branch)) {
      await clearUnfinished(git, place);
      await checkOut(git, place, unfinished);
    }
    const scratch = scratchPlace(place.path);
    warnings.push(...(await copyIncluded(mainRoot, unfinished, scratch, env)));
    warnings.push(...(await copyHookFolder({ commonDir, main: mainRoot }, unfinished, scratch, env)));
    rmSync(scratch, { recursive: true, force: true });
    await moveWorktree(git, unfinished, place);
  }
  await settle(git, place);
  removeEmpty(place);
  return [...warnings, ...(await runHook(place, env))];
}

/** What was saved and not committed, as files that nobody has staged. */
export async function putBack(place: Workplace, commit: string, env: Environment): Promise<void> {
  step("worktree put back");
  const restore = ["restore", `--source=${commit}`, "--worktree", "--", ":/"];
  const what = `The saved work of ${place.site.name} could not be restored`;
  await Git.in("user", env, place.path).expect(what, [...WITHOUT_HOOKS, ...restore]);
}

async function checkOut(git: SiteGit, place: Workplace, unfinished: string): Promise<void> {
  step("worktree add");
  const add = [...WITHOUT_HOOKS, "worktree", "add", "--quiet", unfinished, place.branch];
  const added = await besideOthers(git, add, { into: unfinished });
  expectGit(added, `A worktree of ${git.site.name} could not be created`);
}

/** Git itself marks a worktree that it has not finished making, and holds the lock of an index that it writes. */
function isComplete(commonDir: string, path: string, branch: string): boolean {
  const found = worktreeAt(commonDir, path);
  if (found?.branch !== branch || found.lock === "initializing") return false;
  const own = join(commonDir, found.gitDir);
  return existsSync(join(own, "index")) && !existsSync(join(own, "index.lock"));
}

/** What lies in the side folder was never complete, so that nobody can have worked in it. */
export async function clearUnfinished(git: SiteGit, place: Workplace): Promise<void> {
  const { commonDir, mainRoot } = git.site;
  const unfinished = unfinishedPlace(place.path);
  const entries = [
    ...listWorktrees(commonDir, mainRoot)
      .filter((one) => one.gitDir !== "." && samePath(one.path, unfinished))
      .map((one) => join(commonDir, one.gitDir)),
    ...halfMadeEntries(commonDir, basename(place.path)),
  ];
  const parts = [unfinished, scratchPlace(place.path), ...entries].filter(occupied);
  if (parts.length === 0) return;
  step("worktree clear");
  for (const path of parts) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  await dropLockOnceStale(lockOf(commonDir, refOf(place)));
  removeEmpty(place);
}

export async function moveWorktree(
  git: SiteGit,
  from: string,
  place: Pick<Workplace, "path">,
): Promise<void> {
  step("worktree move");
  if (occupied(place.path)) throw pathExists({ ...place, site: git.site });
  const move = [...WITHOUT_HOOKS, "worktree", "move", from, place.path];
  const moved = await besideOthers(git, move, { into: place.path });
  expectGit(moved, `The worktree of ${git.site.name} could not be moved to its place`);
}

/** Killed between the two halves of a move, git would look for the worktree in its old place. */
async function settle(git: SiteGit, place: Workplace): Promise<void> {
  const found = worktreeAt(git.site.commonDir, place.path);
  if (found?.branch !== place.branch) throw pathExists(place);
  await repair(git, place.path, found);
}

export async function repair(git: SiteGit, path: string, found: KnownWorktree): Promise<void> {
  const known = rootOf(join(git.site.commonDir, found.gitDir));
  if (known !== undefined && samePath(known, path)) return;
  step("worktree repair");
  const repaired = await besideOthers(git, [...WITHOUT_HOOKS, "worktree", "repair", path]);
  expectGit(repaired, "The worktree could not be repaired");
}

/** As git runs it after adding a worktree, but where the worktree will stay, because hooks remember paths. */
async function runHook(place: Workplace, env: Environment): Promise<string[]> {
  const found = worktreeAt(place.site.commonDir, place.path);
  if (found?.task === place.task) return [];
  const head = tipOf(place.site.commonDir, refOf(place));
  if (head === undefined) throw new Error(`${place.branch} is gone`);
  step("worktree hook");
  const hook = ["hook", "run", "--ignore-missing", "post-checkout", "--", nothingLike(head), head, "1"];
  const { code, err } = await Git.in("user", env, place.path).ask(hook);
  if (code === 0) return [];
  const said = err.trim().split("\n").slice(-3).join(" ").slice(0, 300);
  return [`The post-checkout hook of ${place.site.name} failed (${code})${said === "" ? "." : `: ${said}`}`];
}

/** Folders that hold nothing any more; one that does is left alone by the system itself. */
export function removeEmpty({ site, path }: Pick<Workplace, "site" | "path">): void {
  for (const folder of [...sideFolders(path), dirname(path), join(site.commonDir, "worktrees")])
    removeIfEmpty(folder);
}

function pathExists({ path, site }: Pick<Workplace, "path" | "site">): Failure {
  return new Failure("conflict", "path_exists", `${path} already exists.`, {
    hint: "Move it away if it is needed, and run this again.",
    details: { repo: site.name, path },
  });
}
