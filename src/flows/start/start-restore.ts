import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, type RunSnapshot, run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import { planFor } from "./start-facts.ts";
import type { Part } from "./start-plan.ts";

/** What a start would make to go on with a saved run: its branches where they were, and what was not committed. */
export async function planRestore(
  hands: Hands,
  task: string,
  named: string,
): Promise<{ parts: Part[]; restored: string }> {
  const saved = await hands.look((reader) => reader.part(run, task, named.replace(/^.*\//, "")).value);
  const snapshots = await keptOf(hands, saved);
  const parts = await planFor(hands, task, false);
  return {
    restored: saved.id,
    parts: parts.map((part) => {
      const before = saved.repos.find((one) => one.name === part.repo.name);
      const kept = snapshots.some((one) => one.repo === part.repo.name);
      if (!before || !kept) return part;
      // The work is compared with where it started, not with where the base is now.
      return { ...part, repo: { ...part.repo, base_head: before.base_head } };
    }),
  };
}

/** Where the branches of a run begin: at its base, or where the run that it continues was saved. */
export async function beginnings(
  hands: Hands,
  value: Run,
): Promise<(repo: Run["repos"][number]) => { at: string; saved: RunSnapshot | undefined }> {
  const { restored } = value;
  if (restored === undefined) return (repo) => ({ at: repo.base_head, saved: undefined });
  const { snapshots } = await hands.look(
    (reader) => reader.part(run, taskOf(restored), partOf(restored)).value,
  );
  return (repo) => {
    const saved = snapshots.find((one) => one.repo === repo.name);
    return { at: saved?.head ?? repo.base_head, saved };
  };
}

/** The commits that were saved have to be in this clone; elsewhere only the patch is. */
async function keptOf(hands: Hands, saved: Run): Promise<RunSnapshot[]> {
  const task = taskOf(saved.id);
  if (saved.snapshots.length === 0)
    throw new Failure("refused", "snapshot_missing", `Nothing of ${saved.id} was saved.`, {
      hint: `pawl task show ${task} lists the runs. To start from the base: pawl start ${task}`,
      details: { task, run: saved.id },
    });
  const [sites, targets] = [await hands.git.sites(), await hands.git.targets()];
  for (const one of saved.snapshots) {
    if ((await targets.tip(sites.named(one.repo), one.commit)) !== undefined) continue;
    throw new Failure(
      "refused",
      "snapshot_elsewhere",
      `The commit that ${saved.id} was saved as in ${one.repo} is not in this clone.`,
      {
        hint: `Its patch is. Run pawl start ${task}, then in the worktree: pawl diff ${task} --run ${partOf(saved.id)} --repo ${one.repo} | git apply`,
        details: { task, run: saved.id, repo: one.repo, commit: one.commit },
      },
    );
  }
  return saved.snapshots;
}
