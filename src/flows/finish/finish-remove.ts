import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { Run, RunSnapshot } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Content } from "../../ports/worktrees.ts";
import { takeSnapshot } from "../snapshot/take-snapshot.ts";
import { type Ending, savedAs } from "./finish-look.ts";

/** What became of one repository's part. */
export interface Ended {
  repo: string;
  path: string;
  worktree: "kept" | "removed" | "left" | "gone";
  branch: "kept" | "deleted" | "gone";
  /** The commit that keeps what the base does not have. */
  saved: string | undefined;
}

/** What may be removed, and what proves that nothing is lost by it. */
export interface Removal extends Ending {
  saved: RunSnapshot | undefined;
  expected: Pick<Content, "tree" | "head"> | undefined;
}

/** Work that neither the base nor any snapshot has. */
export async function isUnsaved(hands: Hands, value: Run, ending: Ending): Promise<boolean> {
  const { repo, tip, merged, content } = ending;
  if (repo.adopted || ending.now.state === "doomed") return false;
  const open = (tip !== undefined && !merged) || (content !== undefined && !content.committed);
  if (!open) return false;
  // What is saved of it is known by its tree, and what is staged has another one; saving it again costs nothing.
  if (content?.staged) return true;
  const saved = await savedAs(hands, value, ending);
  return saved === undefined || (tip !== undefined && !merged && saved.head !== tip);
}

/**
 * Saves what would be lost, and proves it. Once a removal has begun everything was saved before, and a worktree that is
 * half gone must not be taken for what the user wanted to keep.
 */
export async function saveFirst(
  hands: Hands,
  value: Run,
  endings: readonly Ending[],
): Promise<{ run: Run; warnings: string[] }> {
  const unsaved: Ending[] = [];
  for (const ending of endings) if (await isUnsaved(hands, value, ending)) unsaved.push(ending);
  if (unsaved.length === 0) return { run: value, warnings: [] };
  if (endings.some((one) => one.now.state === "doomed")) return { run: value, warnings: [] };
  hands.say(`Saving ${unsaved.map((one) => one.repo.name).join(", ")} first`);
  const { run, warnings } = await takeSnapshot(hands, taskOf(value.id));
  for (const { repo, place } of unsaved) {
    const saved = run.snapshots.find((one) => one.repo === repo.name);
    if (saved?.whole) continue;
    throw new Failure("refused", "snapshot_incomplete", `Not all of ${place.path} could be saved.`, {
      hint: `${warnings.join(" ")} Commit or move the rest, or keep the worktree: pawl finish ${taskOf(value.id)} --keep --reason "…"`,
      details: { repo: repo.name, worktree: place.path },
    });
  }
  return { run, warnings };
}

/** What each worktree has to hold when it is removed: its commit, or what was saved of it. */
export async function planRemoval(hands: Hands, value: Run, endings: readonly Ending[]): Promise<Removal[]> {
  const removals: Removal[] = [];
  for (const ending of endings) {
    const { content } = ending;
    const saved = value.snapshots.find((one) => one.repo === ending.repo.name);
    const kept =
      saved?.whole &&
      (await savedAs(hands, value, { ...ending, content: content && { ...content, ...pick(saved) } }));
    const expected = content?.committed ? content : kept ? saved : content && { tree: "", head: "" };
    // Nobody needs to hear about an earlier snapshot of what is already in the base.
    const needed = !(ending.merged && (content === undefined || content.committed));
    removals.push({ ...ending, saved: (needed && kept) || undefined, expected });
  }
  return removals;
}

const pick = ({ tree, head }: RunSnapshot) => ({ tree, head, whole: true });

/**
 * Removes the worktrees. First all of them go to where nobody works, and there each is compared with what was saved of
 * it; from then on nothing can change any more, and a kill is only a pause.
 */
export async function removeAll(hands: Hands, removals: readonly Removal[]): Promise<void> {
  const worktrees = await hands.git.worktrees();
  const own = removals.filter((one) => !one.repo.adopted);
  for (const one of own) {
    if (one.ignored > 0)
      hands.say(`${one.repo.name}: ${plural(one.ignored, "ignored file")} will be removed with the worktree`);
    await worktrees.setAside(one.place);
    if (await isAsExpected(hands, one)) continue;
    for (const { place } of own) {
      await worktrees.bringBack(place);
      if (worktrees.whereabouts(place).state === "in place") await worktrees.bind(place);
    }
    throw new Failure("conflict", "worktree_changed", `${one.place.path} changed while it was being saved.`, {
      hint: `Nothing was removed. When nobody is working there: pawl finish ${one.place.task} --remove --reason "…"`,
      details: { repo: one.repo.name, worktree: one.place.path },
    });
  }
  for (const { place } of own) worktrees.doom(place);
  for (const { place } of own) await worktrees.discard(place);
}

async function isAsExpected(hands: Hands, { place, expected }: Removal): Promise<boolean> {
  const worktrees = await hands.git.worktrees();
  const now = worktrees.whereabouts(place);
  if (now.state !== "aside") return now.state === "doomed" || now.state === "gone";
  const content = await worktrees.content(now.worktree.path);
  return content.whole && content.tree === expected?.tree && content.head === expected.head;
}

/** Deletes the branches whose commits the base or a snapshot has; the others stay, and so do those of the user. */
export async function endBranches(hands: Hands, removals: readonly Removal[]): Promise<Ended[]> {
  const worktrees = await hands.git.worktrees();
  const ended: Ended[] = [];
  for (const { repo, place, tip, merged, saved, now } of removals) {
    const all = { repo: repo.name, path: place.path, saved: saved?.commit };
    if (repo.adopted) {
      await worktrees.release(place);
      ended.push({ ...all, worktree: "left", branch: "kept" });
      continue;
    }
    if (now.state === "gone" && now.worktree) await worktrees.forget(place.site, now.worktree);
    const safe = tip !== undefined && (merged || saved?.head === tip);
    const branch =
      tip === undefined ? "gone" : safe && (await worktrees.deleteBranch(place, tip)) ? "deleted" : "kept";
    if (branch !== "deleted") await worktrees.release(place);
    ended.push({ ...all, worktree: now.state === "gone" ? "gone" : "removed", branch });
  }
  return ended;
}
