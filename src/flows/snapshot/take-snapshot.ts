import { change } from "../../judge/change.ts";
import { getRun } from "../../judge/current-run.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { patchFile } from "../../model/paths.ts";
import type { Stored } from "../../model/record.ts";
import { type Run, type RunRepo, type RunSnapshot, run } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { SavedWork } from "../../ports/snapshots.ts";
import { tellOutOfLane } from "./out-of-lane.ts";

export interface TakenSnapshot {
  run: Run;
  saved: RunSnapshot[];
  warnings: string[];
  /** False when the very same work had been saved before. */
  changed: boolean;
}

/**
 * Saves the committed and uncommitted work of every repository of the task's current run. First the commits, each held
 * by a ref; then the record and the patches in one change of the store. Killed in between, nothing is lost, and the
 * next call finds its own commits and finishes.
 */
export async function takeSnapshot(hands: Hands, task: string): Promise<TakenSnapshot> {
  const { value } = await hands.look((reader) => getRun(reader, task));
  const works = await saveAll(hands, value);
  const git = await hands.git.snapshots();
  try {
    const intact = await areIntact(hands, value, works);
    let changed = false;
    const snapshots = works.map((work) => work.snapshot);
    const { data } = await hands.record(
      (reader, at) => {
        const stored = reader.part(run, task, partOf(value.id));
        changed = !intact || !sameSnapshots(stored.value.snapshots, snapshots);
        return changed ? recordThem(stored, works, at) : { data: stored.value };
      },
      { milestone: `${value.id}: snapshot` },
    );
    const warnings = [...works.flatMap((work) => work.warnings), ...(await tellOutOfLane(hands, data))];
    return { run: data, saved: snapshots, warnings, changed };
  } finally {
    git.discard(works.map((work) => work.patch));
  }
}

async function saveAll(hands: Hands, value: Run): Promise<SavedWork[]> {
  const [git, sites] = [await hands.git.snapshots(), await hands.git.sites()];
  const works: SavedWork[] = [];
  try {
    for (const repo of value.repos) {
      const site = sites.named(repo.name);
      const worktree = sites.locate(site, repo.worktree);
      works.push(await here(hands, value, repo, () => git.save(site, repo, worktree, value.id)));
    }
    return works;
  } catch (error) {
    git.discard(works.map((work) => work.patch));
    throw error;
  }
}

/** What is missing here and belongs to another clone was not lost: it is there. */
export async function here<T>(hands: Hands, value: Run, repo: RunRepo, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { clone } = await hands.situation("read");
    if (!(error instanceof Failure) || error.code !== "branch_missing" || value.clone === clone) throw error;
    throw new Failure(
      "refused",
      "run_elsewhere",
      `${value.id} works in another clone; its branch ${repo.branch} of ${repo.name} is not here.`,
      {
        hint: "Run this in that clone, then `pawl sync` in both.",
        details: { run: value.id, clone: value.clone, repo: repo.name },
      },
    );
  }
}

/** The patches that the record speaks of may have been deleted or damaged since. */
async function areIntact(hands: Hands, value: Run, works: readonly SavedWork[]): Promise<boolean> {
  const git = await hands.git.snapshots();
  for (const { snapshot } of works) {
    const patch = await git.open(pathOf(value, snapshot), snapshot.patch_sha256);
    if (!patch) return false;
    patch.close();
  }
  return true;
}

export const pathOf = (value: Run, snapshot: Pick<RunSnapshot, "repo">) =>
  patchFile(taskOf(value.id), partOf(value.id), snapshot.repo);

const sameSnapshots = (before: readonly RunSnapshot[], now: readonly RunSnapshot[]) =>
  JSON.stringify(before) === JSON.stringify(now);

function recordThem(stored: Stored<typeof run>, works: readonly SavedWork[], at: Situation): Plan<Run> {
  const { value } = stored;
  const snapshots = works.map((work) => work.snapshot);
  const about = works.map((work) => describe(work.snapshot)).join("; ") || "nothing to save";
  const changed = change(run, stored, { snapshots }, at, about);
  const attached = works.map(
    (work): Effect => ({
      do: "attach",
      record: value.id,
      rev: changed.value.rev,
      path: pathOf(value, work.snapshot),
      from: work.patch,
      about: `patch of ${work.snapshot.repo}`,
    }),
  );
  return { data: changed.value, effects: [...attached, changed.effect] };
}

const describe = (one: RunSnapshot) =>
  `saved ${one.repo}: ${plural(one.files, "file")} +${one.insertions} -${one.deletions}`;
