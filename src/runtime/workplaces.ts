import { realpathSync } from "node:fs";
import { occupied } from "../files/read.ts";
import { taskOfWorktree } from "../git/discover.ts";
import { lookAtWork } from "../git/look-at-work.ts";
import { worktreesOf } from "../git/repository-files.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { RunRepo } from "../model/records/run.ts";
import type { Runtime } from "./open.ts";

interface TaskWorktree {
  repo: string;
  path: string;
  gitDir: string;
  commonDir: string;
}

/** The worktrees that are bound to a task, on this machine, wherever git knows them to be now. */
export async function findWorkplaces(runtime: Runtime, task: string): Promise<TaskWorktree[]> {
  const sites = await runtime.git.sites();
  return sites
    .all()
    .flatMap((site) =>
      worktreesOf(site).flatMap(({ gitDir, root }) =>
        root !== undefined && taskOfWorktree(gitDir) === task && occupied(root)
          ? [{ repo: site.name, path: root, gitDir, commonDir: site.commonDir }]
          : [],
      ),
    );
}

/** The same with what was changed there; one that git cannot tell about has no files rather than no place. */
export async function lookAtWorkplaces(
  runtime: Runtime,
  task: string,
  repos: readonly RunRepo[],
  env: Environment,
): Promise<{ repo: string; path: string; files: string[] }[]> {
  const places = await findWorkplaces(runtime, task);
  return Promise.all(
    places.map(async (place) => {
      const { repo, path } = place;
      const base = (repos.find((one) => one.name === repo) ?? repos[0])?.base_branch;
      return { repo, path, files: base ? await changedIn(place, base, env) : [] };
    }),
  );
}

async function changedIn(place: TaskWorktree, base: string, env: Environment): Promise<string[]> {
  try {
    const { committed, uncommitted } = await lookAtWork({ ...place, root: place.path }, base, env);
    return [...new Set([...committed, ...uncommitted])].sort();
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** The folder that this process stands in, also after it was moved: Node itself remembers only where it began. */
export function standing(): string {
  try {
    return realpathSync.native(".");
  } catch (cause) {
    throw new Failure("not_found", "no_folder", "The folder in which this server was started is gone.", {
      hint: "Start it again in the project. No record is lost.",
      cause,
    });
  }
}
