import * as z from "zod/mini";
import { howToPublishTask } from "../flows/approve/approve-push.ts";
import { mindingClaim } from "../flows/claims/settle-claim.ts";
import { keepAll } from "../flows/finish/finish-keep.ts";
import { describeLanded, lookForLanded, recordLanded } from "../flows/finish/finish-landed.ts";
import { lookAtEnd } from "../flows/finish/finish-look.ts";
import { recordEnded, recordEnding, recordNotEnded } from "../flows/finish/finish-records.ts";
import {
  type Ended,
  endBranches,
  isUnsaved,
  planRemoval,
  removeAll,
  saveFirst,
} from "../flows/finish/finish-remove.ts";
import { conclude, type Finished } from "../flows/finish/finish-report.ts";
import { callsItMerged, checkUnmerged, tellUnmerged } from "../flows/finish/finish-unmerged.ts";
import { expectNoneAtWork } from "../flows/run/run-settle.ts";
import { partsOf, reasonOf, startRunning, takeBack } from "../flows/start/start-carry-out.ts";
import { otherClone } from "../flows/start/start-conflicts.ts";
import { checkHolder } from "../flows/start/start-holder.ts";
import { getRun, hasWorktrees } from "../judge/current-run.ts";
import { taskToEnd } from "../judge/unfinished-merges.ts";
import { Failure } from "../model/failure.ts";
import { shorten, taskOf } from "../model/ids.ts";
import { flag, line, maybe, taskField } from "../model/input.ts";
import { LIVE, MERGED } from "../model/lifecycle.ts";
import { type Run, run as runKind } from "../model/records/run.ts";
import { columns, plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan } from "../ports/operation.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  task?: string | undefined;
  keep?: boolean | undefined;
  remove?: boolean | undefined;
  reason?: string | undefined;
}

/** With what was not said filled in: an end without a word is that of a merged task. */
interface Wish extends Wanted {
  reason: string;
}

export const finish = procedure({
  id: "finish",
  summary: "End a run: keep its worktrees, or remove them once everything is merged or saved",
  details:
    "Without options it ends a merged task. --keep leaves everything where it is. --remove removes the worktrees\nand the task's branches; what the base branch does not have is saved first (`pawl diff` shows it), and if it\ncannot be saved nothing is removed. A worktree adopted with --here is only released. A task becomes done when\nthe base has its work, through an approval or a pull request that was merged, squashed or rebased; nothing\nelse counts as merged. Commits that came after the merge are counted, and nothing is removed as merged with\nthem: another reason saves them, and names the command that brings the branch back.",
  examples: [
    "pawl finish T0001",
    "pawl finish T0001 --remove --reason merged",
    'pawl finish T0001 --keep --reason "waiting for the new API"',
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    keep: flag("leave the worktrees and branches where they are"),
    remove: flag("remove the worktrees and the branches that are merged or saved"),
    reason: maybe(line("why it ends", "TEXT", 500)),
  }),

  async rehearse(hands, said) {
    const input = wishOf(said);
    const value = await choose(hands, input);
    const parts = await partsOf(hands, value);
    if (value.status === "starting") return parts.map(({ place }) => ({ do: "take back", path: place.path }));
    if (input.keep) return parts.map(({ place }) => ({ do: "keep", path: place.path }));
    const endings = await lookAtEnd(hands, value, "removing");
    await checkUnmerged(hands, endings, input.reason);
    const planned: { do: string; path: string }[] = [];
    for (const ending of endings) {
      const { repo, place, tip } = ending;
      if (await isUnsaved(hands, value, ending))
        planned.push({ do: "save", path: `${repo.name} ${repo.branch}` });
      planned.push({ do: repo.adopted ? "let go" : "remove", path: place.path });
      if (!repo.adopted && tip) planned.push({ do: "delete branch", path: `${repo.branch} of ${repo.name}` });
    }
    return planned;
  },

  async perform(hands, said) {
    const input = wishOf(said);
    const id = await hands.look((reader, at) => taskToEnd(reader, input.task, at));
    const release = (await hands.git.worktrees()).hold(id);
    if (!release) throw startRunning(id);
    try {
      const chosen = await choose(hands, input);
      return await mindingClaim(hands, id, async () => {
        if (chosen.status === "starting") return giveUp(hands, chosen, input);
        const value = await noteLanded(hands, chosen, input);
        const plan = await (input.keep ? keep(hands, value, input) : remove(hands, value, input));
        return { ...plan, warnings: [...(plan.warnings ?? []), ...(await howToPublishTask(hands, id))] };
      });
    } finally {
      release();
    }
  },

  text: ({ run, task, repos }, style) =>
    [
      `${style.bold(task.id)} ${task.status}  ${style.dim(`${run.id} ${run.ended ?? ""}: ${shorten(run.reason ?? "", 80)}`)}`,
      columns(
        repos.map((one) => [
          `  ${one.repo}`,
          `worktree ${one.worktree}`,
          `branch ${one.branch}`,
          one.saved === undefined ? "" : `saved as ${one.saved.slice(0, 12)}`,
          one.worktree === "kept" || one.worktree === "left" ? one.path : "",
        ]),
      ),
    ].join("\n"),
});

function wishOf(input: Wanted): Wish {
  const { task, keep = false, remove = false, reason } = input;
  if (!keep && !remove && reason === undefined) return { task, remove: true, reason: "merged" };
  if (keep === remove)
    throw new Failure("usage", "keep_or_remove", "Say what to do with the worktrees: --keep or --remove.", {
      hint: 'pawl finish --remove --reason "…" saves unmerged work before it removes anything.',
      details: { field: "keep" },
    });
  if (reason !== undefined) return { task, keep, remove, reason };
  throw new Failure("usage", "reason_needed", "--reason is needed.", {
    hint: `For example: pawl finish ${keep ? "--keep" : "--remove"} --reason "waiting for the new API"`,
    details: { field: "reason" },
  });
}

/** The run that is to end, if the caller may end it. */
async function choose(hands: Hands, input: Wish): Promise<Run> {
  const { value, task } = await hands.look((reader, at) => {
    const id = taskToEnd(reader, input.task, at);
    return { task: reader.task(id).value, value: getRun(reader, id).value };
  });
  const own = (await hands.git.worktrees()).isOurs(value.clone) ? value : await leftHere(hands, task.id);
  if (!own) throw otherClone(value);
  await expectNoneAtWork(hands, task.id, "ending it");
  if (!MERGED.includes(task.status)) await checkHolder(hands, own);
  return own;
}

/** The run whose worktrees stayed here when another clone took the task over. */
async function leftHere(hands: Hands, task: string): Promise<Run | undefined> {
  const worktrees = await hands.git.worktrees();
  const { records } = await hands.look((reader) => reader.parts(runKind, task));
  return records
    .map((one) => one.value)
    .findLast((one) => hasWorktrees(one) && one.ended === "kept" && worktrees.isOurs(one.clone));
}

/** A task whose work its base has is merged, whoever merged it; one whose work it lacks is not, whatever the reason says. */
async function noteLanded(hands: Hands, value: Run, input: Wish): Promise<Run> {
  const id = taskOf(value.id);
  const { status } = await hands.look((reader) => reader.task(id).value);
  if (MERGED.includes(status)) return value;
  const landed = LIVE.includes(status) ? await lookForLanded(hands, value) : undefined;
  if (landed) {
    hands.say(`${id} is in its base: ${describeLanded(landed)}`);
    const { data } = await hands.record((reader, at) => recordLanded(reader, at, value.id, landed), {
      milestone: `${id}: merged elsewhere`,
    });
    return data.run;
  }
  if (!callsItMerged(input.reason)) return value;
  throw new Failure("refused", "not_merged", `${id} is ${status}, and its work is not in its base.`, {
    hint: `To merge it: pawl approve ${id}\nTo save it and set it aside: pawl finish ${id} --remove --reason "not now"`,
    details: { task: id, status },
  });
}

/** A run that never began, because its start was killed, has nothing to keep. */
async function giveUp(hands: Hands, value: Run, input: Wish): Promise<Plan<Finished>> {
  const id = taskOf(value.id);
  if (input.keep)
    throw new Failure("refused", "start_unfinished", `${value.id} did not finish starting.`, {
      hint: `Finish starting it first: pawl start ${id}`,
      details: { run: value.id },
    });
  const parts = await partsOf(hands, value);
  const run = await takeBack(hands, value, input.reason);
  const task = await hands.look((reader) => reader.task(id).value);
  const left = run.ended === undefined;
  const repos = parts.map(
    ({ repo, place }): Ended => ({
      repo: repo.name,
      path: place.path,
      worktree: repo.adopted || left ? "left" : "removed",
      branch: repo.adopted || left ? "kept" : "deleted",
      saved: undefined,
    }),
  );
  return { data: { run, task, repos }, warnings: left ? [run.reason ?? ""] : [] };
}

async function keep(hands: Hands, value: Run, input: Wish): Promise<Plan<Finished>> {
  const endings = await lookAtEnd(hands, value, "keeping");
  const unmerged = await checkUnmerged(hands, endings, input.reason);
  const about = `keeping the worktrees: ${input.reason}`;
  await hands.record((reader, at) => recordEnding(reader, at, value.id, endings, input.reason, about), {
    phase: "before",
  });
  const repos = await orTell(hands, value, () => keepAll(hands, endings, input.reason));
  const { data } = await hands.record(
    (reader, at) => recordEnded(reader, at, value.id, "kept", `kept: ${input.reason}`),
    { phase: "after", milestone: `${value.id}: kept, ${input.reason}` },
  );
  return conclude({ ...data, repos }, tellUnmerged(unmerged, repos));
}

/** The end of a merged task, for whoever has just approved it and may still stand in its worktree. */
export async function finishMerged(hands: Hands, id: string): Promise<Plan<Finished>> {
  const release = (await hands.git.worktrees()).hold(id);
  if (!release) throw startRunning(id);
  try {
    const wish = { task: id, remove: true, reason: "merged" };
    const value = await choose(hands, wish);
    return await mindingClaim(hands, id, () => remove(hands, value, wish, "leaving"));
  } finally {
    release();
  }
}

async function remove(
  hands: Hands,
  value: Run,
  input: Wish,
  how: "removing" | "leaving" = "removing",
): Promise<Plan<Finished>> {
  const endings = await lookAtEnd(hands, value, how);
  const unmerged = await checkUnmerged(hands, endings, input.reason);
  const { run: saved, warnings } = await saveFirst(hands, value, endings);
  const removals = await planRemoval(hands, saved, endings);
  const about = `removing the worktrees: ${input.reason}`;
  await hands.record((reader, at) => recordEnding(reader, at, value.id, endings, input.reason, about), {
    phase: "before",
  });
  const repos = await orTell(hands, value, async () => {
    await removeAll(hands, removals);
    return endBranches(hands, removals);
  });
  const { data } = await hands.record(
    (reader, at) => recordEnded(reader, at, value.id, "removed", `removed: ${input.reason}`),
    { phase: "after", milestone: `${value.id}: removed, ${input.reason}` },
  );
  const ignored = removals.reduce((sum, one) => sum + one.ignored, 0);
  if (ignored > 0) warnings.push(`${plural(ignored, "ignored file")} removed with the worktrees.`);
  for (const { repo, published } of MERGED.includes(data.task.status) ? removals : [])
    for (const remote of published)
      warnings.push(
        `${remote} still has ${repo.branch}. To remove it there: git push ${remote} --delete ${repo.branch}`,
      );
  return conclude({ ...data, repos }, [...warnings, ...tellUnmerged(unmerged, repos)]);
}

/** What could not be done is written down as well; the run has not ended. */
async function orTell<T>(hands: Hands, value: Run, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = await reasonOf(hands, error);
    await hands.record((reader, at) => recordNotEnded(reader, at, value.id, reason), { phase: "failed" });
    throw error;
  }
}
