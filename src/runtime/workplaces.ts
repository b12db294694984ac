import { realpathSync } from "node:fs";
import { listWorktrees } from "../git/worktrees/entries.ts";
import { Failure } from "../model/failure.ts";
import type { Runtime } from "./open.ts";

interface Workplace {
  repo: string;
  path: string;
}

/** The worktrees that are bound to a task, on this machine, wherever git knows them to be now. */
export async function findWorkplaces(runtime: Runtime, task: string): Promise<Workplace[]> {
  const sites = await runtime.git.sites();
  return sites.all().flatMap((site) =>
    listWorktrees(site.commonDir, site.mainRoot)
      .filter((one) => one.present && one.task === task)
      .map((one) => ({ repo: site.name, path: one.path })),
  );
}

/** The folder that this process stands in, also after it was moved: Node itself remembers only where it began. */
export function standing(): string {
  try {
    return realpathSync.native(".");
  } catch (cause) {
    throw new Failure("not_found", "no_folder", "The folder that this server was started in is gone.", {
      hint: "Start it again in the project; nothing that was recorded is lost.",
      cause,
    });
  }
}
