import * as z from "zod/mini";
import { change } from "../judge/change.ts";
import { findRun } from "../judge/current-run.ts";
import { findingLine } from "../judge/findings.ts";
import { getOwnTask } from "../judge/own-task.ts";
import { getPart } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { line, maybe, prose, taskField } from "../model/input.ts";
import { checkFindingStep } from "../model/lifecycle.ts";
import { type Finding, finding } from "../model/records/parts.ts";
import type { RunRepo } from "../model/records/run.ts";
import type { World } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const findingResolve = operation({
  id: "finding.resolve",
  summary: "Mark a finding as fixed, by a commit",
  details:
    "The fix must be a commit made after the finding was raised, on top of the commit it was raised at, and it must\nchange something. A finding about a plan needs a plan that has changed since.",
  examples: [
    "pawl finding resolve F1",
    'pawl finding resolve T0001/F2 --commit 1a2b3c4 --note "bounded to 3 tries"',
  ],
  access: "write",
  cli: { positional: ["finding"] },
  input: z.strictObject({
    finding: line("the finding", "F", 40),
    commit: maybe(line("the fixing commit (default: HEAD)", "COMMIT", 200)),
    note: maybe(prose("how it was fixed")),
    task: taskField(),
  }),
  milestone: ({ finding: value }) => `${value.id}: fixed`,

  async observe(world, input, at, reader) {
    const raised = getPart(reader, finding, input.finding, input.task, at).value;
    const task = getOwnTask(reader, taskOf(raised.id), at);
    if (raised.kind === "branch" && raised.repo !== undefined && raised.repo !== at.repo)
      throw elsewhere(raised, at.repo);
    const fix = input.commit === undefined ? at.commit : await world.resolveCommit(input.commit);
    const place = findRun(reader, task)?.value.repos.find((one) => one.name === at.repo);
    if (raised.kind === "branch" && place && fix && !(await world.isInBranch(place, fix)))
      throw notInBranch(fix, place);
    return {
      fix,
      dirty: raised.kind === "branch" && (await world.isDirty()),
      ...(raised.kind === "plan"
        ? NOT_CODE
        : await judgeFix(world, [raised.commit, raised.reopened_at], fix)),
    };
  },

  gather(reader, input, at, observed) {
    const stored = getPart(reader, finding, input.finding, input.task, at);
    return { stored, ...observed, plan: reader.task(taskOf(stored.value.id)).value.plan };
  },

  decide(input, { stored, fix, dirty, follows, changes, plan }, at) {
    const { value: known } = stored;
    checkFindingStep(known, "fixed");
    if (input.commit !== undefined && !fix)
      throw new Failure("not_found", "no_commit", `There is no commit "${input.commit}" here.`, {
        details: { field: "commit" },
      });
    if (known.kind === "branch") {
      if (!fix) throw new Failure("refused", "no_commit", "There is no commit yet that could fix it.");
      if (dirty)
        throw new Failure(
          "refused",
          "pending_uncommitted",
          `${known.id}: the worktree has uncommitted changes.`,
          {
            hint: "Commit the fix, then resolve the finding.",
          },
        );
      if (!follows)
        throw new Failure(
          "refused",
          "not_a_descendant",
          `${known.id} was raised at ${(known.reopened_at ?? known.commit)?.slice(0, 12)}; ${fix.slice(0, 12)} does not contain that commit.`,
          { hint: "Resolve it from the branch that the finding is about." },
        );
      if (!changes)
        throw new Failure(
          "refused",
          "no_fix_commit",
          `Nothing has been committed since ${known.id} was raised.`,
          { hint: "Fix it, commit the fix in the task's worktree, then resolve the finding." },
        );
    } else if (known.plan_digest !== undefined && known.plan_digest === at.sha256(plan))
      throw new Failure(
        "refused",
        "plan_unchanged",
        `The plan has not changed since ${known.id} was raised.`,
        {
          hint: "Change the plan first (`pawl task update --help`), then resolve the finding.",
        },
      );
    const { effect, value } = change(
      finding,
      stored,
      {
        status: "fixed",
        resolved_commit: fix,
        resolved_by: at.actor,
        resolution: input.note ?? known.resolution,
      },
      at,
      `${known.status} → fixed`,
    );
    return { data: { finding: value }, effects: [effect] };
  },

  text: ({ finding: value }) => findingLine(value),
});

/** A fix that is not on its way to the merge fixes nothing. */
function notInBranch(fix: string, { branch, worktree }: RunRepo): Failure {
  return new Failure("refused", "fix_not_in_branch", `${fix.slice(0, 12)} is not part of ${branch}.`, {
    hint: `Commit the fix in the task's worktree, ${worktree}, and resolve the finding there.`,
    details: { branch },
  });
}

/** The commits of one repository say nothing in another. */
function elsewhere(raised: Finding, repo: string | undefined): Failure {
  return new Failure(
    "refused",
    "other_repository",
    `${raised.id} is about ${raised.repo}; this is ${repo}.`,
    {
      hint: `Resolve it in the task's worktree in ${raised.repo}.`,
      details: { repo: raised.repo },
    },
  );
}

const NOT_CODE = { follows: true, changes: true };

/** The fix comes after the finding was raised and after it was last seen to be there still, and is not empty. */
async function judgeFix(
  world: World,
  seen: readonly (string | undefined)[],
  fix: string | undefined,
): Promise<{ follows: boolean; changes: boolean }> {
  let changes = true;
  for (const commit of seen) {
    if (!commit || !fix) continue;
    if (commit !== fix && !(await world.isAncestor(commit, fix))) return { follows: false, changes };
    changes &&= commit !== fix && (await world.differ(commit, fix));
  }
  return { follows: true, changes };
}
