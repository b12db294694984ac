import { isProtected } from "../../judge/gates/policy.ts";
import { Failure } from "../../model/failure.ts";
import { quoted } from "../../model/text.ts";
import type { Site } from "../../ports/sites.ts";
import type { KnownWorktree, RepositoryLook } from "../../ports/worktrees.ts";
import type { Part, StartFacts } from "./start-plan.ts";

/** The worktree we stand in becomes the task's, as it is: nothing in it is made, moved or cleaned. */
export async function adopt(
  facts: StartFacts,
  site: Site,
  look: RepositoryLook,
  base: { branch: string; tip: string },
): Promise<Part> {
  const { task, worktrees, sites } = facts;
  const found = worktrees.here();
  if (!found)
    throw new Failure(
      "refused",
      "no_worktree",
      "This is a bare repository; there are no files to work on here.",
      {
        hint: `Leave out --here: pawl start ${task.id}`,
      },
    );
  const branch = branchOf(facts, look, found, base.branch);
  const head = look.heads.get(branch);
  if (head === undefined)
    throw new Failure("refused", "unborn", `${branch} of ${site.name} has no commit yet.`, {
      hint: "Commit something there first.",
      details: { repo: site.name, branch },
    });
  const from = await worktrees.mergeBase(site, head, base.tip);
  if (from === undefined)
    throw new Failure(
      "refused",
      "no_common_base",
      `${branch} has no history in common with ${base.branch}.`,
      {
        hint: `Say what it starts from: pawl task update ${task.id} --base <branch>`,
        details: { repo: site.name, branch, base_branch: base.branch },
      },
    );
  return {
    place: { site, task: task.id, branch, path: found.path },
    repo: {
      name: site.name,
      worktree: sites.relate(site, found.path),
      branch,
      base_branch: base.branch,
      base_was: undefined,
      base_since: undefined,
      base_head: from,
      head: undefined,
      dirty: await worktrees.isDirty(found.path),
      adopted: true,
    },
  };
}

function branchOf(facts: StartFacts, look: RepositoryLook, found: KnownWorktree, base: string): string {
  const { task, config, live } = facts;
  const { branch } = found;
  if (branch === undefined)
    throw new Failure(
      "refused",
      "detached",
      "No branch is checked out here, so commits would belong to none.",
      {
        hint: "Make one first: git switch -c <branch>",
        details: { worktree: found.path },
      },
    );
  if (isProtected(branch, undefined, [config], look.defaultBranch))
    throw new Failure(
      "refused",
      "on_protected_branch",
      `${branch} is protected; a task needs a branch of its own.`,
      {
        hint: `Make a branch first (git switch -c <branch>), or leave out --here: pawl start ${task.id}`,
        details: { branch, worktree: found.path },
      },
    );
  if (branch === base)
    throw new Failure(
      "refused",
      "on_base_branch",
      `${branch} is the branch that ${task.id} starts from and merges into.`,
      {
        hint: `Make a branch first (git switch -c <branch>), or leave out --here: pawl start ${task.id}`,
        details: { branch, worktree: found.path },
      },
    );
  const owner = live.find((one) => one.id !== task.id && (one.id === found.task || one.branch === branch));
  if (owner)
    throw new Failure("conflict", "worktree_bound", `This worktree belongs to ${owner.id}.`, {
      hint: `End that first (pawl finish ${owner.id} …), or start ${task.id} in its own worktree: cd ${quoted(found.path)} && pawl start ${task.id}`,
      details: { task: owner.id, worktree: found.path, branch },
    });
  return branch;
}
