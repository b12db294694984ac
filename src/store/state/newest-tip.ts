import { join } from "node:path";
import { lineIfReadable } from "../../files/read.ts";
import { nothingLike } from "../../git/object-ids.ts";
import type { Git } from "../../git/run-git.ts";
import { isAtNewest, NEWEST } from "./is-complete.ts";
import { gitOf, type StateRepository, tip } from "./state-basics.ts";

/** After pawl moved the branch: it goes along unless it knows of something that the branch has lost. */
export async function noteNewest(
  repo: StateRepository,
  commit: string,
  parent: string | undefined,
): Promise<void> {
  const git = gitOf(repo);
  const known = await newest(repo, git);
  if (known === undefined) {
    await git.ask(["update-ref", NEWEST, (await dropped(git, commit)) ?? commit, nothingLike(commit)]);
    return;
  }
  const isKept = async (by: string | undefined) =>
    known === by || (by !== undefined && (await git.isAncestor(known, by)));
  // Whoever is faster here has noted something newer.
  if ((await isKept(parent)) || (await isKept(commit))) await git.ask(["update-ref", NEWEST, commit, known]);
}

/**
 * What git's own logs have of the state and `tip` does not contain, the newest of it. Asked only where nobody noted the
 * newest commit, which is what whoever removes the note leaves. A history of its own that a clone set aside is not lost.
 */
async function dropped(git: Git, tip: string): Promise<string | undefined> {
  const args = ["rev-list", "-1", "--ignore-missing", "--reflog", "--not", tip, "--glob=refs/pawl/begun"];
  return (await git.line(args)) || undefined;
}

const newest = async (repo: StateRepository, git: Git) =>
  lineIfReadable(join(repo.gitDir, NEWEST)) ??
  (await git.line(["rev-parse", "-q", "--verify", `${NEWEST}^{commit}`]));

/** The newest commit that pawl made here, where the branch does not contain it any more; undefined where all is well. */
export async function lostTip(repo: StateRepository): Promise<string | undefined> {
  if (isAtNewest(repo.gitDir)) return undefined;
  const git = gitOf(repo);
  const now = tip(repo);
  const known = (await newest(repo, git)) ?? (now && (await dropped(git, now)));
  if (known === undefined) return undefined;
  return now === undefined || known === now || (await git.isAncestor(known, now)) ? undefined : known;
}
