import * as z from "zod/mini";
import { recoverHolding } from "../flows/approve/approve-recover.ts";
import { short } from "../flows/approve/approve-show.ts";
import { planRefresh, type Refresh, type RefreshPlan } from "../flows/refresh/refresh-plan.ts";
import { noteBases, noteRefresh } from "../flows/refresh/refresh-records.ts";
import { getRun } from "../judge/current-run.ts";
import { getOwnTask } from "../judge/own-task.ts";

import { Failure } from "../model/failure.ts";
import { taskField } from "../model/input.ts";
import { LIVE, MERGED } from "../model/lifecycle.ts";
import type { Run } from "../model/records/run.ts";
import type { Hands } from "../ports/hands.ts";
import type { BranchMove, Purpose } from "../ports/merges.ts";
import type { Plan } from "../ports/operation.ts";
import { procedure } from "./operation.ts";

type Refreshed = Extract<Purpose, { kind: "refresh" }>["refreshed"];

export const refresh = procedure({
  id: "refresh",
  summary: "Merge a base branch that moved into the task's branch, in all its repositories or none",
  details:
    "Merges the tip of the base branch into the task's branch, in the run's worktree. It is refused while there are\nuncommitted changes, and when the two conflict: then merge by hand. If no file was changed on both sides, a\nreview of the work stays valid and only the checks have to run again.",
  examples: ["pawl refresh", "pawl refresh T0001"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),

  async rehearse(hands, input) {
    const { task, run } = await find(hands, input.task);
    const { moves } = await planRefresh(hands, task, run);
    return moves.map(({ repo, base }) => ({
      do: "merge",
      path: `${repo.base_branch} at ${short(base)} into ${repo.branch} of ${repo.name}`,
    }));
  },

  async perform(hands, input) {
    return (await hands.git.merges()).exclusively(async () => {
      const said = await recoverHolding(hands);
      const { task, run } = await find(hands, input.task);
      const plan = await planRefresh(hands, task, run);
      const refreshed = plan.moves.length === 0 ? [] : await carryOut(hands, task, run, plan.moves);
      if (run.repos.some((one) => one.base_was !== undefined))
        await hands.record((reader, at) => noteBases(reader, at, run.id, plan.bases), {
          milestone: `${task}: another base`,
        });
      return answer(task, plan, refreshed, said);
    });
  },

  text: ({ refreshed, current }, style) =>
    [
      ...refreshed.map(
        (one) =>
          `${style.bold(one.repo)}: ${short(one.base)} merged; the branch is at ${short(one.to)}; ${
            one.overlap
              ? style.yellow("both sides changed the same files, so it needs another review")
              : "no file changed on both sides, so a review stays valid"
          }`,
      ),
      ...current.map((repo) => `${style.bold(repo)}: the base did not move`),
    ].join("\n"),
});

async function find(hands: Hands, named: string | undefined): Promise<{ task: string; run: Run }> {
  return hands.look((reader, at) => {
    const id = getOwnTask(reader, named, at);
    const { status } = reader.task(id).value;
    if (!LIVE.includes(status))
      throw new Failure(
        "refused",
        MERGED.includes(status) ? "already_merged" : "not_started",
        `${id} is ${status}; there is nothing to refresh.`,
        { hint: `pawl task show ${id}`, details: { task: id, status } },
      );
    return { task: id, run: getRun(reader, id).value };
  }, "write");
}

/** The same journal as an approval's: killed anywhere, the next command finishes it or takes it back. */
async function carryOut(hands: Hands, task: string, run: Run, moves: readonly Refresh[]): Promise<Refreshed> {
  const merges = await hands.git.merges();
  const refreshed: Refreshed = [];
  const branches: BranchMove[] = [];
  for (const { site, repo, from, base, tree, overlap } of moves) {
    const message = `Merge ${repo.base_branch} into ${repo.branch}\n\nPawl-Task: ${task}\n`;
    const to =
      tree === undefined ? base : await merges.commit(site, { tree, parents: [from, base], message });
    refreshed.push({ repo: repo.name, from, to, base, overlap: overlap.length > 0 });
    branches.push({ site, branch: repo.branch, old: from, new: to });
  }
  const part = run.id.slice(task.length + 1);
  const purpose = { kind: "refresh", task, run: part, refreshed } as const;
  const undertaking = await merges.begin(`${task}-refresh`, purpose, `pawl: refresh ${task}`, branches);
  try {
    await undertaking.carryOut();
  } catch (error) {
    if (undertaking.decided()) throw error;
    for (const note of await undertaking.undo()) hands.say(note);
    await undertaking.close();
    throw error;
  }
  await hands.record((reader, at) => noteRefresh(reader, at, purpose), {
    phase: "after",
    milestone: `${task}: refreshed`,
  });
  await undertaking.close();
  return refreshed;
}

function answer(
  task: string,
  { current, notes, moves }: RefreshPlan,
  refreshed: Refreshed,
  said: string[],
): Plan<{ refreshed: Refreshed; current: string[]; overlap: string[] }> {
  return {
    data: { refreshed, current, overlap: moves.flatMap((one) => one.overlap) },
    warnings: [...said, ...notes],
    next:
      refreshed.length === 0
        ? undefined
        : { command: `pawl verify ${task}`, reason: "the checks have to run again on the new tree" },
  };
}
