import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import type { Run } from "../../model/records/run.ts";
import { quoted } from "../../model/text.ts";
import type { Site } from "../../ports/sites.ts";
import type { KnownWorktree, RepositoryLook } from "../../ports/worktrees.ts";

/** Each thing that can stand in the way of a start, with its own name and its own way out. */

export function unsupported(site: Site, what: string): Failure {
  return new Failure(
    "unavailable",
    "unsupported_repository",
    `${site.name} uses ${what}, which pawl does not support.`,
    {
      hint: "Pawl supports refs in files and in reftables, and SHA-1 and SHA-256 objects. Nothing was changed.",
      details: { repo: site.name },
    },
  );
}

/** The commit to start from, or why there is none. */
export function tipOfBase(site: Site, look: RepositoryLook, base: string, task: string): string {
  const tip = look.heads.get(base);
  if (tip !== undefined) return tip;
  const details = { repo: site.name, base_branch: base };
  if (look.remotes.has(`origin/${base}`))
    throw new Failure(
      "not_found",
      "base_branch_missing",
      `${site.name} has origin/${base}, but no ${base}.`,
      {
        hint: `git branch ${base} origin/${base}`,
        details,
      },
    );
  if (look.heads.size === 0)
    throw new Failure(
      "refused",
      "unborn",
      `${site.name} has no commit yet; there is nothing to start from.`,
      {
        hint: 'Make the first one: git commit --allow-empty -m "Begin"',
        details,
      },
    );
  const others = [...look.heads.keys()].slice(0, 6).join(", ");
  throw new Failure(
    "not_found",
    "base_branch_missing",
    `${site.name} has no branch ${base || "to start from"}.`,
    {
      hint: site.home
        ? `It has ${others}. Say which: pawl task update ${task} --base <branch>`
        : `It has ${others}. Say which: pawl repo add ${site.mainRoot ?? site.commonDir} --name ${site.name} --base <branch>`,
      details,
    },
  );
}

export function surfacesMissing(site: Site, base: string): Failure {
  return new Failure(
    "refused",
    "surfaces_not_in_base",
    `${base} of ${site.name} does not have pawl's installed files, so the task's branch would not have them either.`,
    {
      hint: `Where ${base} is checked out, in a terminal: pawl install ${site.home ? "" : `--target ${quoted(site.mainRoot ?? site.commonDir)} `}--commit`,
      details: { repo: site.name, base_branch: base, path: LEDGER_FILE },
    },
  );
}

export function branchClash(
  site: Site,
  look: RepositoryLook,
  branch: string,
  task: string,
): Failure | undefined {
  const details = { repo: site.name, branch };
  if (look.heads.has(branch)) {
    const user = look.worktrees.find((one) => one.branch === branch && one.present);
    return new Failure("conflict", "branch_exists", `The branch ${branch} of ${site.name} already exists.`, {
      hint: user
        ? user.task === task
          ? `It is the task's own, in ${user.path}. To continue there: pawl start ${task} --claim`
          : `It is checked out in ${user.path}. Go there and run: pawl start ${task} --here`
        : `To continue it: git worktree add <path> ${branch}, then there: pawl start ${task} --here. To start over, rename it: git branch -m ${branch} <name>`,
      details: { ...details, ...(user ? { worktree: user.path } : {}) },
    });
  }
  const other = [...look.heads.keys()].find(
    (one) => branch.startsWith(`${one}/`) || one.startsWith(`${branch}/`),
  );
  if (other === undefined) return undefined;
  return new Failure(
    "conflict",
    "branch_name_taken",
    `${site.name} has a branch ${other}; git cannot have ${branch} beside it.`,
    {
      hint: `Rename it (git branch -m ${other} <name>), or change "branch" in .pawl/config.yaml.`,
      details: { ...details, other },
    },
  );
}

export function pathTaken(site: Site, path: string, known: KnownWorktree | undefined): Failure {
  const missing = known !== undefined && !known.present;
  return new Failure(
    "conflict",
    "path_exists",
    missing
      ? `git still lists a worktree at ${path}, but its folder is gone.`
      : `${path} is there already; the worktree of ${site.name} belongs there.`,
    {
      hint: missing
        ? `Make git forget it: git worktree unlock ${quoted(path)}; git worktree prune`
        : "Move it away if it is needed, and run this again.",
      details: { repo: site.name, path },
    },
  );
}

export function activeElsewhere(run: Run, where: readonly string[]): Failure {
  const task = taskOf(run.id);
  return new Failure(
    "conflict",
    "task_active_elsewhere",
    `${task} is already started in ${where.join(" and ")}; ${run.holder} has held it since ${run.created}.`,
    {
      hint: `If nobody is working there: pawl start ${task} --claim`,
      details: { run: run.id, status: run.status, holder: run.holder, since: run.created, worktrees: where },
    },
  );
}

export function otherClone(run: Run): Failure {
  return new Failure(
    "conflict",
    "other_clone",
    `The worktrees of ${run.id} are in another clone (${run.clone}).`,
    {
      hint: "Continue there, or end the run there with `pawl finish` and bring the state here with `pawl sync`.",
      details: { run: run.id, clone: run.clone, holder: run.holder },
    },
  );
}
