import { rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../files/durable.ts";
import { sessionOf } from "../../model/actor.ts";
import { step } from "../../model/steps.ts";
import type { KnownWorktree, Workplace } from "../../ports/worktrees.ts";
import { BINDING, HOLDER, MOVERS, taskOfWorktree } from "../discover.ts";
import { bindBranch, unbindBranch } from "../grants.ts";
import { expectGit } from "../run-git.ts";
import { besideOthers } from "./beside-others.ts";
import { listWorktrees, samePath } from "./entries.ts";
import { keepMovers } from "./keep-movers.ts";
import { refOf } from "./refs.ts";
import type { SiteGit } from "./site-git.ts";

/** The worktree that git has at the path of a workplace. */
export function entryOf(place: Pick<Workplace, "site" | "path">): KnownWorktree | undefined {
  const { commonDir, mainRoot } = place.site;
  return listWorktrees(commonDir, mainRoot).find((one) => samePath(one.path, place.path));
}

const ourLock = (place: Workplace) => `pawl ${place.task}`;
/** Locks of other people keep their words; ours all begin with the task's name. */
const isOurs = (place: Workplace, lock: string | undefined) => lock?.startsWith(ourLock(place)) ?? false;

export async function bindWorktree(git: SiteGit, place: Workplace): Promise<void> {
  const found = entryOf(place);
  if (!found) throw new Error(`${place.path} is no worktree`);
  const own = join(git.site.commonDir, found.gitDir);
  step("worktree bind");
  bindBranch(git.site.commonDir, refOf(place), found.gitDir);
  // Last, because whoever stands there takes it for the task's own place from now on.
  if (taskOfWorktree(own) !== place.task) {
    rmSync(join(own, MOVERS), { force: true });
    replaceFile(join(own, BINDING), `${place.task}\n`);
  }
  if (found.gitDir !== "." && (found.lock === undefined || isOurs(place, found.lock)))
    await lockWorktree(git, place, ourLock(place));
}

export async function lockWorktree(git: SiteGit, place: Workplace, reason: string): Promise<void> {
  const found = entryOf(place);
  if (!found || found.gitDir === "." || found.lock === reason) return;
  if (found.lock !== undefined) await unlock(git, found);
  step("worktree lock");
  const locked = await besideOthers(git, ["worktree", "lock", "--reason", reason, found.path]);
  expectGit(locked, "The worktree could not be locked");
}

export async function unlock(git: SiteGit, found: KnownWorktree): Promise<void> {
  if (found.lock === undefined) return;
  step("worktree unlock");
  const unlocked = await besideOthers(git, ["worktree", "unlock", found.path]);
  expectGit(unlocked, "The worktree could not be unlocked");
}

/** Hooks know by this whose worktree it is. Only a session of an agent keeps another one out. */
export function noteHolder(place: Workplace, holder: string | undefined): void {
  const found = entryOf(place);
  if (!found) return;
  const file = join(place.site.commonDir, found.gitDir, HOLDER);
  if (holder !== undefined && sessionOf(holder) !== undefined) replaceFile(file, `${holder}\n`);
  else rmSync(file, { force: true });
}

/** Gives an adopted worktree its own state back. */
export async function releaseWorktree(git: SiteGit, place: Workplace): Promise<void> {
  const { commonDir } = git.site;
  const found = entryOf(place);
  if (found && isOurs(place, found.lock)) await unlock(git, found);
  if (found?.task === place.task) {
    keepMovers(commonDir, found.gitDir);
    step("worktree release");
    for (const name of [BINDING, MOVERS, HOLDER])
      rmSync(join(commonDir, found.gitDir, name), { force: true });
  }
  unbindBranch(commonDir, refOf(place));
}
