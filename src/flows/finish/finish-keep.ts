import { Failure } from "../../model/failure.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Ending } from "./finish-look.ts";
import type { Ended } from "./finish-remove.ts";

/** Leaves everything where it is, says why in git's own lock, and lets go of what was only adopted. */
export async function keepAll(hands: Hands, endings: readonly Ending[], reason: string): Promise<Ended[]> {
  const worktrees = await hands.git.worktrees();
  const doomed = endings.find((one) => one.now.state === "doomed");
  if (doomed)
    throw new Failure(
      "refused",
      "removal_begun",
      `${doomed.place.path} is already being removed; its work is saved.`,
      {
        hint: `To complete it: pawl finish ${doomed.place.task} --remove --reason "…"`,
        details: { repo: doomed.repo.name, worktree: doomed.place.path },
      },
    );
  const ended: Ended[] = [];
  for (const { repo, place, now, tip } of endings) {
    if (repo.adopted) await worktrees.release(place);
    else {
      await worktrees.bringBack(place);
      await worktrees.lockAs(place, `pawl ${place.task} kept: ${reason}`);
    }
    ended.push({
      repo: repo.name,
      path: place.path,
      worktree: now.state === "gone" ? "gone" : repo.adopted ? "left" : "kept",
      branch: tip === undefined ? "gone" : "kept",
      saved: undefined,
    });
  }
  return ended;
}
