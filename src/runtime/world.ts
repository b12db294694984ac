import { namesIfReadable, textIfPresent } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import type { Repository } from "../git/repository.ts";
import { isApart } from "../guard/quick-look.ts";
import { type Config, parseConfig, readConfigText } from "../model/config.ts";
import { Failure } from "../model/failure.ts";
import { POLICY_FILE } from "../model/paths.ts";
import type { MergeAhead } from "../ports/guard.ts";
import type { Purpose } from "../ports/merges.ts";
import type { SearchQuery, World } from "../ports/ports.ts";
import { mergingDir, runsDir } from "../store/layout.ts";
import { hasUnfinishedMerges } from "../store/unfinished.ts";
import { guardWarnings } from "./guard-warnings.ts";
import { droppedFrom, isInstalled, isInstalledHere, isUncommitted } from "./installed.ts";
import type { Runtime, Surroundings } from "./open.ts";
import { withYaml } from "./with-yaml.ts";

/** Everything here is imported when it is asked for: most commands ask for none of it. */
export function openWorld(around: Surroundings, place: Place, runtime: () => Runtime): World {
  const repository = async () => (await import("../git/repository.ts")).openRepository(place, around.env);
  return {
    config: () => readConfig(place, runtime()),
    async targets(wanted) {
      const { lookAtTargets } = await import("./targets.ts");
      return lookAtTargets(await runtime().git.sites(), wanted, around.env);
    },
    async work(base, options) {
      const { lookAtWork } = await import("../git/look-at-work.ts");
      return lookAtWork(place, base, around.env, options);
    },
    isDirty: async () => (await repository()).isDirty(),
    isAncestor: async (ancestor, descendant) => (await repository()).isAncestor(ancestor, descendant),
    resolveCommit: async (name) => (await repository()).resolveCommit(name),
    differ: async (one, other) => (await repository()).differ(one, other),
    lineAt: async (...at) => lineAt(runtime(), await repository(), at),
    workingTree: async () => (await repository()).workingTree(),
    changedFiles: async (base) => (await repository()).changedFiles(base),
    committedPolicy: async (repo) => (await (await runtime().git.branches()).policy(repo)).base,
    async runCheck(argv, where, policy) {
      const { runCheck } = await import("./run-check.ts");
      return runCheck(argv, {
        cwd: where === "top" ? (place.root ?? around.cwd) : around.cwd,
        env: around.env,
        local: runtime().home.local,
        policy,
        progress: around.progress,
        signal: around.signal,
      });
    },
    async workplaces(task) {
      const { findWorkplaces } = await import("./workplaces.ts");
      const found = await findWorkplaces(runtime(), task);
      return Promise.all(
        found.map(async (one) => {
          const there = runtime().at(one.path);
          return { ...one, world: there.world, at: await there.situation("write") };
        }),
      );
    },
    branchTips: (repos) => tipsOf(runtime(), repos),
    async branchChanges(repos) {
      const branches = await runtime().git.branches();
      return Promise.all(
        repos.map(async (repo) => ({ repo: repo.name, files: await branches.changes(repo) })),
      );
    },
    isInBranch: async (repo, commit) => (await runtime().git.branches()).contains(repo, [commit]),
    changedPlaces: async (task, repos) =>
      (await import("./workplaces.ts")).lookAtWorkplaces(runtime(), task, repos, around.env),
    landed: async (runs) =>
      runs.length === 0 ? new Map() : (await import("./tell-landed.ts")).tellLanded(runtime(), runs),
    strays: () => findStrays(runtime()),
    isInstalled: () => isInstalled(place),
    isUncommitted: (commit) => isUncommitted(runtime(), around.env, commit),
    isInstalledHere: () => isInstalledHere(place),
    dropped: () => droppedFrom(place, around.env),
    guardWarnings: () => guardWarnings(place, around.env, runtime().home),
    mergesAhead: () => findAhead(place, around),
    cutOffMerges: () => findCutOff(runtime()),
    search: async (query) =>
      (await import("../store/search/search.ts")).search(await searchOptions(around, runtime(), query)),
    findAlike: async (query) =>
      (await import("../store/search/search.ts")).findAlike(await searchOptions(around, runtime(), query)),
    attempts: (runs) => lookAtRuns(runsDir(runtime().home), runs),
    machine: async () => (await import("./machine.ts")).readMachine(around),
    edit: async (name, text) => (await import("./open-editor.ts")).editText(name, text, around),
  };
}

async function lookAtRuns(folder: string, runs: readonly string[]) {
  if (runs.length === 0) return [];
  const { lookAtRun } = await import("../agents/look.ts");
  return runs.map((run) => lookAtRun(folder, run));
}

/** Asked of another repository of the project, it is that one's own line. */
async function lineAt(
  runtime: Runtime,
  here: Repository,
  [commit, file, line, repo]: Parameters<World["lineAt"]>,
): Promise<string | undefined> {
  const sites = repo === undefined ? undefined : await runtime.git.sites();
  const site = sites?.all().find((one) => one.name === repo);
  if (!site || site.name === sites?.here().name) return here.lineAt(commit, file, line);
  return runtime.at(site.mainRoot ?? site.commonDir).world.lineAt(commit, file, line);
}

async function tipsOf({ git }: Runtime, repos: Parameters<World["branchTips"]>[0]) {
  const branches = await git.branches();
  return repos.flatMap((one) => {
    const head = branches.tip(one);
    return head ? [{ repo: one.name, head }] : [];
  });
}

async function findAhead({ commonDir }: Place, { env }: Surroundings): Promise<MergeAhead[]> {
  if (!isApart(commonDir)) return [];
  return (await import("../guard/overtaken.ts")).mergesAhead(commonDir, env);
}

async function findCutOff({ home }: Runtime): Promise<Purpose[]> {
  if (!hasUnfinishedMerges(home)) return [];
  return (await import("../git/merging/cut-off.ts")).cutOffMerges(mergingDir(home));
}

/** Hardly ever are there any, and a name in a folder is all that it takes to know. */
async function findStrays({ place, git }: Runtime): Promise<string[]> {
  if (namesIfReadable(`${place.commonDir}/pawl/strays`).length === 0) return [];
  const [sites, rescues] = [await git.sites(), await git.rescues()];
  return (await rescues.look(sites.here()))?.noted ?? [];
}

async function searchOptions(around: Surroundings, { home, fullYaml }: Runtime, query: SearchQuery) {
  const { openSource } = await import("../store/search-source.ts");
  return {
    dir: home.local,
    source: openSource(home, fullYaml()),
    query,
    now: Date.now(),
    oneShot: around.oneShot,
    progress: (message: string) => around.progress(Buffer.from(`${message}\n`)),
  };
}

async function readConfig(place: Place, runtime: Runtime): Promise<Config> {
  const path = POLICY_FILE;
  let text: string | undefined;
  try {
    text = textIfPresent(`${place.root ?? place.commonDir}/${path}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure("unreadable", "broken_config", `${path} cannot be read (${code}).`, { cause: error });
  }
  if (text === undefined) return parseConfig(path, new Map());
  const found = text;
  return withYaml(runtime, async () => readConfigText(path, found, runtime.fullYaml()));
}
