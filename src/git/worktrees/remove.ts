import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { occupied } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { FoundWorktree, KnownWorktree, Workplace } from "../../ports/worktrees.ts";
import { unbindBranch } from "../grants.ts";
import { expectGit } from "../run-git.ts";
import { besideOthers } from "./beside-others.ts";
import { entryOf, unlock } from "./bind.ts";
import { clearUnfinished, moveWorktree, removeEmpty, repair } from "./build.ts";
import { discardedPlace, worktreeAt } from "./entries.ts";
import { keepMovers } from "./keep-movers.ts";
import { waitForGitToEnd } from "./processes.ts";
import { deleteBranch, refOf } from "./refs.ts";
import { type SiteGit, WITHOUT_HOOKS } from "./site-git.ts";

/** In the git directory of a worktree whose content is known to be saved: half of it may be gone already. */
const DOOMED = "pawl-removing";

export function whereabouts(place: Workplace): FoundWorktree {
  const { commonDir } = place.site;
  const aside = discardedPlace(place.path);
  if (occupied(place.path)) {
    const own = worktreeAt(commonDir, place.path);
    const found = own ?? entryOf(place);
    if (!found) return { state: "gone", worktree: undefined };
    return { state: "in place", worktree: found, linked: own !== undefined || found.gitDir === "." };
  }
  // The folder may have lost its own link to git already, while git still knows about it.
  const found = worktreeAt(commonDir, aside) ?? entryOf({ ...place, path: aside });
  if (!found) return { state: "gone", worktree: entryOf(place) };
  return { state: existsSync(join(commonDir, found.gitDir, DOOMED)) ? "doomed" : "aside", worktree: found };
}

export async function setAside(git: SiteGit, place: Workplace): Promise<void> {
  const now = whereabouts(place);
  const aside = discardedPlace(place.path);
  if (now.state === "in place") {
    await unlock(git, now.worktree);
    await moveWorktree(git, now.worktree.path, { path: aside });
  } else if (now.state === "aside") await repair(git, aside, now.worktree);
}

export async function bringBack(git: SiteGit, place: Workplace): Promise<void> {
  const now = whereabouts(place);
  if (now.state !== "aside") return;
  await repair(git, discardedPlace(place.path), now.worktree);
  await moveWorktree(git, discardedPlace(place.path), place);
  removeEmpty(place);
}

export function doom(place: Workplace): void {
  const now = whereabouts(place);
  if (now.state !== "aside") return;
  keepMovers(place.site.commonDir, now.worktree.gitDir);
  step("worktree doom");
  writeFileSync(join(place.site.commonDir, now.worktree.gitDir, DOOMED), "");
}

/** Only what is marked goes: half of it may be gone already, and what it held is known to be saved. */
export async function discard(git: SiteGit, place: Workplace): Promise<void> {
  const now = whereabouts(place);
  if (now.state === "doomed") {
    const aside = discardedPlace(place.path);
    await waitForGitToEnd(aside);
    const own = join(git.site.commonDir, now.worktree.gitDir);
    step("worktree remove");
    const removed = await besideOthers(git, [...WITHOUT_HOOKS, "worktree", "remove", "--force", aside]);
    // Half removed, without its link to git, it is nothing that git would remove.
    if (removed.code !== 0) removeFolders([aside, own], removed.err);
  }
  removeEmpty(place);
}

function removeFolders(paths: readonly string[], said: string): void {
  try {
    for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    const { path, code } = error as NodeJS.ErrnoException;
    throw new Failure("unavailable", "not_removed", `${path ?? paths[0]} could not be removed (${code}).`, {
      hint: `Its content is saved. Remove it by hand, or get permission to, and run this again. git said: ${said.trim().slice(0, 200)}`,
      details: { path },
      cause: error,
    });
  }
}

/** Whoever builds where a removal was interrupted ends it first, or takes it back if it had not really begun. */
export async function resumeRemoval(git: SiteGit, place: Workplace): Promise<void> {
  await bringBack(git, place);
  await discard(git, place);
}

/** Makes git forget a worktree whose folder is gone. */
export async function forget(git: SiteGit, worktree: KnownWorktree): Promise<void> {
  if (worktree.gitDir === "." || occupied(worktree.path)) return;
  await unlock(git, worktree);
  keepMovers(git.site.commonDir, worktree.gitDir);
  step("worktree forget");
  const { code, err } = await besideOthers(git, [...WITHOUT_HOOKS, "worktree", "remove", worktree.path]);
  if (code !== 0 && !/is not a working tree/.test(err))
    expectGit({ code, err, out: "" }, "git could not unregister the worktree");
}

/**
 * Takes back what a start has made. A worktree in which anybody changed anything stays; a branch that has moved is not
 * the one that was made, and stays as well.
 */
export async function undo(
  git: SiteGit,
  place: Workplace,
  commit: string,
  isClean: (path: string) => Promise<boolean>,
): Promise<"undone" | "used"> {
  const { commonDir } = git.site;
  await waitForGitToEnd(place.path);
  await clearUnfinished(git, place);
  const found = worktreeAt(commonDir, place.path);
  if (found?.branch === place.branch) await repair(git, place.path, found);
  const ours = whereabouts(place).worktree?.branch === place.branch;
  if (ours) await setAside(git, place);
  const now = whereabouts(place);
  if (ours && now.state === "aside") {
    const untouched = (await git.commitOf(refOf(place))) === commit && (await isClean(now.worktree.path));
    if (!untouched) {
      await bringBack(git, place);
      return "used";
    }
    doom(place);
  }
  await discard(git, place);
  if (ours && now.state === "gone" && now.worktree) await forget(git, now.worktree);
  if (!(await deleteBranch(git, place, commit))) unbindBranch(commonDir, refOf(place));
  return "undone";
}
