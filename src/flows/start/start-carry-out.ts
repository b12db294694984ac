import { Failure } from "../../model/failure.ts";
import { partOf, shorten, taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import { setUp } from "./set-up.ts";
import type { Part } from "./start-plan.ts";
import { recordFailed, recordRunning, recordStarting } from "./start-records.ts";
import { beginnings } from "./start-restore.ts";

export interface Started {
  run: Run;
  task: Task;
  worktrees: { repo: string; path: string }[];
}

/** Where the parts of a recorded run are on this machine. */
export async function partsOf(hands: Hands, value: Run): Promise<Part[]> {
  const sites = await hands.git.sites();
  return value.repos.map((repo) => {
    const site = sites.named(repo.name);
    const path = sites.locate(site, repo.worktree);
    return { repo, place: { site, task: taskOf(value.id), branch: repo.branch, path } };
  });
}

export async function begin(
  hands: Hands,
  id: string,
  parts: readonly Part[],
  restored?: string,
): Promise<Plan<Started>> {
  const { data } = await hands.record((reader, at) => recordStarting(reader, at, id, parts, restored), {
    phase: "before",
  });
  return carryOut(hands, data.run, hands.agent === undefined ? leftBehind(id, parts) : []);
}

/** Whoever began to work before the task did looks for it in the worktree. What a human left there is no agent's business. */
const leftBehind = (id: string, parts: readonly Part[]) =>
  parts
    .filter(({ repo }) => repo.dirty && !repo.adopted)
    .map(
      ({ repo, place }) =>
        `${place.site.mainRoot} has uncommitted changes, and the worktree does not. To move them there: pawl rescue ${id}${parts.length > 1 ? ` --repo ${quoted(repo.name)}` : ""}`,
    );

/** Makes what the record of a run announces; all of it may be there already. A failure takes everything back. */
export async function carryOut(
  hands: Hands,
  value: Run,
  warnings: readonly string[],
): Promise<Plan<Started>> {
  const worktrees = await hands.git.worktrees();
  const parts = await partsOf(hands, value);
  const said = [...warnings];
  const begins = await beginnings(hands, value);
  try {
    for (const { repo, place } of parts) {
      if (!repo.adopted) {
        const { at, saved } = begins(repo);
        hands.say(`${repo.name}: ${repo.branch} in ${repo.worktree}`);
        await worktrees.makeBranch(place, at);
        said.push(...(await worktrees.build(place)));
        if (saved) await worktrees.putBack(place, saved);
      }
      await worktrees.bind(place);
    }
  } catch (error) {
    await takeBack(hands, value, await reasonOf(hands, error));
    throw error;
  }
  const about = `running in ${parts.map((one) => one.repo.worktree).join(", ")}`;
  const { data } = await hands.record((reader, at) => recordRunning(reader, at, value.id, about), {
    phase: "after",
    milestone: `${value.id}: started`,
  });
  for (const { place } of parts) worktrees.noteHolder(place, data.run.holder);
  said.push(...(await earlierWork(hands, value)), ...(await setUp(hands, parts)));
  return answer(data, parts, said);
}

/** What went wrong, as a record may say it: on one line, and without the folders of this machine. */
export async function reasonOf(hands: Hands, error: unknown): Promise<string> {
  let text = error instanceof Error ? error.message : String(error);
  for (const { name, mainRoot, commonDir } of (await hands.git.sites()).all())
    for (const folder of [mainRoot ?? commonDir, commonDir]) text = text.replaceAll(folder, name);
  return shorten(text, 300);
}

/** All or nothing: undoes what was made, in reverse order; what somebody has used since stays and is named. */
export async function takeBack(hands: Hands, value: Run, reason: string): Promise<Run> {
  const worktrees = await hands.git.worktrees();
  const left: string[] = [];
  const begins = await beginnings(hands, value);
  for (const { repo, place } of (await partsOf(hands, value)).reverse())
    if (repo.adopted) await worktrees.release(place);
    else if ((await worktrees.undo(place, begins(repo).at)) === "used")
      left.push(`${repo.worktree} and ${repo.branch} of ${repo.name}`);
  const { data } = await hands.record((reader, at) => recordFailed(reader, at, value.id, reason, left), {
    phase: "failed",
    milestone: `${value.id}: not started`,
  });
  return data.run;
}

export function answer(
  { run: value, task }: { run: Run; task: Task },
  parts: readonly Part[],
  warnings: string[] = [],
): Plan<Started> {
  const worktrees = parts.map(({ repo, place }) => ({ repo: repo.name, path: place.path }));
  return {
    data: { run: value, task, worktrees },
    warnings,
    next: { command: "pawl session", reason: "there: what the task is, and what comes next" },
  };
}

/** A new run begins at the base; what an earlier one left behind is not lost, and somebody may want it. */
async function earlierWork(hands: Hands, value: Run): Promise<string[]> {
  const task = taskOf(value.id);
  if (value.restored !== undefined) return [];
  const { records } = await hands.look((reader) => reader.parts(run, task));
  const saved = records
    .map((one) => one.value)
    .filter((one) => one.id !== value.id && one.snapshots.length > 0)
    .at(-1);
  if (!saved) return [];
  const refs = saved.snapshots.map((one) => `${one.repo} ${one.commit.slice(0, 12)}`).join(", ");
  return [
    `${value.id} starts from the base. The work of ${saved.id} was saved: ${refs} (pawl diff ${task} --run ${partOf(saved.id)}). To continue that instead: pawl finish ${task} --remove --reason "begun at the base", then pawl start ${task} --restore ${partOf(saved.id)}`,
  ];
}

export function startRunning(task: string): Failure {
  return new Failure(
    "conflict",
    "start_running",
    `${task} is being started or finished elsewhere right now.`,
    {
      hint: "Wait for it to end, then run this again.",
      details: { task },
    },
  );
}
