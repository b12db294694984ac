import type { Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { fillTemplate, isPlainBranch, isPlainWorktree } from "../../model/naming.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import type { RepositoryRecord, RunRepo } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site, Sites } from "../../ports/sites.ts";
import type { RepositoryLook, Workplace, Worktrees } from "../../ports/worktrees.ts";
import { tellAll } from "../tell-all.ts";
import { branchClash, pathTaken, surfacesMissing, tipOfBase, unsupported } from "./start-conflicts.ts";
import { adopt } from "./start-here.ts";

/** One repository's part of a run, and where that is on this machine. */
export interface Part {
  repo: RunRepo;
  place: Workplace;
}

/** What a plan is made from; read once. */
export interface StartFacts {
  task: Task;
  config: Config;
  sites: Sites;
  worktrees: Worktrees;
  repositories: readonly RepositoryRecord[];
  /** Tasks that somebody works on: no worktree or branch of theirs is taken over. */
  live: readonly { id: string; branch: string | undefined }[];
}

/**
 * What a start would make, in all repositories of the task. Everything that stands in the way is found here, before
 * anything changes.
 */
export async function planStart(hands: Hands, facts: StartFacts, here: boolean): Promise<Part[]> {
  const { sites, task } = facts;
  const chosen = sitesOf(facts);
  if (here && !chosen.some((site) => site.commonDir === sites.here().commonDir))
    throw new Failure(
      "refused",
      "repository_not_in_task",
      `${task.id} does not touch ${sites.here().name}.`,
      {
        hint: `It touches ${chosen.map((site) => site.name).join(", ")}. Start it there, or without --here.`,
        details: { repos: chosen.map((site) => site.name) },
      },
    );
  const parts: Part[] = [];
  const conflicts: Failure[] = [];
  for (const site of chosen)
    try {
      const adopting = here && site.commonDir === sites.here().commonDir;
      parts.push(await planPart(facts, site, adopting));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      conflicts.push(error);
    }
  tellAll(conflicts);
  if (parts.length > 1)
    hands.say(`${parts.length} repositories: ${parts.map((one) => one.repo.name).join(", ")}`);
  return parts;
}

/** The repositories a task names, as this machine knows them; the one we stand in when it names none. */
function sitesOf({ sites, task, repositories }: StartFacts): Site[] {
  if (task.repos.length === 0) return [sites.here()];
  const all = sites.all();
  return [...new Set(task.repos)].map((name) => {
    // The home's folder may have been renamed since the task was written; it still is the home.
    const wasHome = repositories.some((one) => one.id === name && one.home);
    const known = all.find((one) => one.name === name) ?? (wasHome ? all.find((one) => one.home) : undefined);
    return known ?? sites.named(name);
  });
}

async function planPart(facts: StartFacts, site: Site, adopting: boolean): Promise<Part> {
  const { task, worktrees } = facts;
  const look = await worktrees.look(site);
  if (look.unsupported !== undefined) throw unsupported(site, look.unsupported);
  const base = baseOf(facts, site, look);
  const tip = tipOfBase(site, look, base, task.id);
  if (await worktrees.lacks(site, tip, LEDGER_FILE)) throw surfacesMissing(site, base);
  if (adopting) return adopt(facts, site, look, { branch: base, tip });
  const branch = branchFor(facts);
  const clash = branchClash(site, look, branch, task.id);
  if (clash) throw clash;
  const path = worktrees.place(site, worktreeFor(facts));
  const known = look.worktrees.find((one) => one.path === path);
  if (known || worktrees.occupied(path)) throw pathTaken(site, path, known);
  return {
    place: { site, task: task.id, branch, path },
    repo: {
      name: site.name,
      worktree: facts.sites.relate(site, path),
      branch,
      base_branch: base,
      base_was: undefined,
      base_since: undefined,
      base_head: tip,
      head: undefined,
      // Uncommitted changes there are not on the task's branch, and somebody may miss them.
      dirty: site.mainRoot !== undefined && (await worktrees.isDirty(site.mainRoot)),
      adopted: false,
    },
  };
}

function baseOf({ repositories, task, config }: StartFacts, site: Site, look: RepositoryLook): string {
  const own = repositories.find((one) => one.id === site.name)?.base_branch;
  const usual = [look.defaultBranch, "main", "master"].find(
    (one) => one !== undefined && look.heads.has(one),
  );
  return own ?? task.base_branch ?? (config.base_branch || (usual ?? look.defaultBranch ?? "main"));
}

function branchFor({ config, task }: StartFacts): string {
  const branch = fillTemplate(config.branch, task);
  if (isPlainBranch(branch)) return branch;
  throw new Failure("usage", "bad_template", `"${branch}" is not a valid name for a branch.`, {
    hint: 'Change "branch" in .pawl/config.yaml: letters, digits, dots, dashes and slashes, such as task/{id}-{slug}.',
    details: { template: config.branch, branch },
  });
}

function worktreeFor({ config, task }: StartFacts): string {
  const path = fillTemplate(config.worktree, task);
  if (isPlainWorktree(path)) return path;
  throw new Failure("usage", "bad_template", `"${path}" is not a place for a worktree.`, {
    hint: 'In .pawl/config.yaml write `worktree: ".worktrees/{id}-{slug}"`: below a hidden folder, or beside the project with `../`.',
    details: { template: config.worktree },
  });
}
