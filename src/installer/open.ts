import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { environmentForChecks, foreignFolders, keepEnvironment } from "../files/check-environment.ts";
import { explainFileError, removeIfEmpty } from "../files/durable.ts";
import { missingPrograms } from "../files/find-program.ts";
import { tryAcquire } from "../files/intent-lock.ts";
import { pause } from "../files/pause.ts";
import { lineIfReadable, namesIfPresent } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import { publishedName } from "../git/published-name.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { LEDGER_FILE } from "../model/paths.ts";
import { step } from "../model/steps.ts";
import { VERSION } from "../model/version.ts";
import type { Diagnosis } from "../ports/doctor.ts";
import type { Installation, OverrideChange, PreparedCommit, SurfaceRequest } from "../ports/installation.ts";
import { ADAPTERS } from "./adapters.ts";
import { examineStart, examineTrust } from "./agent-trust.ts";
import { isCommitted, lookAtCommit, type MadeCommit, moveBranch, prepareCommit } from "./commit.ts";
import {
  examineCommands,
  examineEnvironment,
  examineFiles,
  examineLaunchers,
  examineOldLauncher,
  examineOverrides,
  examineRuntime,
} from "./examine.ts";
import { finishJournal } from "./journal.ts";
import { editedFiles, listOverrides, overlayFor } from "./overrides/overrides.ts";
import { looker, readLedger, readTrackedLedger, type Tree } from "./plan/installed-tree.ts";
import { lookAt } from "./plan/look.ts";
import {
  applyPlan,
  type InstallationPlan,
  planInstallation,
  planUninstallation,
  proposalFor,
  shownStep,
  surfacesOf,
} from "./plan/plan-installation.ts";
import { ownPackage } from "./runtime/package.ts";
import { copyRuntime, missingFiles, runtimeOf } from "./runtime/runtime-copy.ts";
import { FLAGS, isAgent, USUAL_AGENTS } from "./surfaces.ts";
import { TreeGit } from "./tree-git.ts";

export interface InstallationAround {
  place: Place;
  /** Where we stand, which may be below the top. */
  cwd: string;
  env: Environment;
  /** The folder of the program that runs; undefined when it was not built. */
  program: string | undefined;
  /** Every command there is, by its operation's id. */
  commands: readonly string[];
}

export function openInstallation({ place, cwd, env, program, commands }: InstallationAround): Installation {
  const { commonDir } = place;
  const [root, local] = [place.root ?? commonDir, join(commonDir, "pawl")];
  const git = () => new TreeGit(root, local, env);
  const isSparse = existsSync(join(place.gitDir, "info", "sparse-checkout"));
  const own = ownPackage(program);
  const tree: Tree = {
    root,
    package: own,
    local,
    name: () => lineIfReadable(join(local, "name")) ?? publishedName(place, env) ?? place.name,
    leftOut: () => (isSparse ? git().leftOut() : new Set()),
  };
  return {
    version: VERSION,
    package: own?.digest,
    known: { agents: Object.keys(ADAPTERS), usual: USUAL_AGENTS, flags: FLAGS },
    hasFiles: place.root !== undefined,
    installed() {
      const ledger = place.root === undefined ? undefined : readLedger(tree);
      if (!ledger) return undefined;
      const { pawl: version, package: named, profile, agents, flags } = ledger;
      return { version, package: named, profile, agents, flags };
    },
    proposal: () => (place.root === undefined ? undefined : proposalFor(tree, env.PATH)),
    async exclusively(act) {
      const release = await hold(commonDir);
      try {
        return await act();
      } finally {
        release();
      }
    },
    recover: () =>
      finishJournal(tree.local).map((path) => `${path} was changed after an earlier run was killed.`),
    plan: (request) => planInstallation(tree, request).steps.map(shownStep),
    apply: (request) => explained(() => applyPlan(tree, planInstallation(tree, request))),
    planRemoval: () => planUninstallation(tree).steps.map(shownStep),
    remove: () => explained(() => applyPlan(tree, planUninstallation(tree))),
    next: ({ agents, flags }) =>
      agents.filter(isAgent).map((agent) => {
        const { title, invoke, next, prompts } = ADAPTERS[agent];
        const open = prompts.filter(({ unless }) => unless === undefined || !flags.includes(unless));
        const begin = invoke.replace("{name}", "pawl");
        return { agent, title, begin, next, asks: open.map(({ text }) => text) };
      }),
    overrides() {
      const ledger = readLedger(tree);
      if (!ledger) return [];
      const { skills, others } = surfacesOf(tree, { ...ledger, force: false, lenient: true });
      return listOverrides(skills, others);
    },
    planOverride: (change, request) => planOverride(tree, change, request).steps.map(shownStep),
    applyOverride: (change, request) => explained(() => applyPlan(tree, planOverride(tree, change, request))),
    examine: () => examine({ tree, place, cwd, env, commands, built: program !== undefined }),
    missingRuntime: () => (program === undefined ? [] : missingFiles(program, commonDir)),
    copyRuntime: (thoroughly = false) =>
      program === undefined ? [] : explained(() => copyRuntime(program, commonDir, thoroughly)),
    keepEnvironment: (when) => explained(() => keepEnvironment(tree.local, env, when)),
    missingPrograms: (lines, policy) =>
      missingPrograms(lines, root, environmentForChecks(tree.local, env, policy).variables.PATH),
    foreignFolders: () => foreignFolders(tree.local, env),
    removeRuntime: () => removeRuntime(tree.local, commonDir),
    lookAtCommit: () => lookAtCommit(place, git()),
    isCommitted: () => isCommitted(git(), lookAt(tree.root, LEDGER_FILE)),
    prepareCommit: (request) => prepareFor(tree, place, git(), request),
    commit: (prepared, granted) => moveBranch(git(), commonDir, prepared as MadeCommit, granted),
  };
}

function planOverride(tree: Tree, change: OverrideChange, request: SurfaceRequest): InstallationPlan {
  const agents = request.agents.filter(isAgent);
  const overlay = overlayFor(change, tree.root, agents);
  return planInstallation(tree, request, overlay, editedFiles(change, tree.root, agents));
}

interface Examined {
  tree: Tree;
  place: Place;
  cwd: string;
  env: InstallationAround["env"];
  commands: readonly string[];
  built: boolean;
}

function examine({ tree, place, cwd, env, commands, built }: Examined): Diagnosis[] {
  const ledger = place.root === undefined ? undefined : readTrackedLedger(tree);
  const runtime = [
    ...examineRuntime(place.commonDir, ledger, built),
    ...examineEnvironment(tree.local, env, ledger !== undefined),
  ];
  if (!ledger) return runtime;
  const request = { ...ledger, force: false, lenient: true };
  const { skills, others } = surfacesOf(tree, request);
  return [
    ...runtime,
    ...(ledger.pawl === VERSION ? examineFiles(planInstallation(tree, request).steps.map(shownStep)) : []),
    ...examineLaunchers(tree, ledger),
    ...examineCommands(tree, ledger, commands),
    ...examineOldLauncher(tree, ledger),
    ...examineOverrides(listOverrides(skills, others)),
    ...examineTrust({ root: tree.root, agents: ledger.agents, env }),
    ...examineStart({ root: tree.root, cwd, agents: ledger.agents, env, commonDir: place.commonDir }),
  ];
}

const PATIENCE_MS = 60_000;

/** One at a time: whoever waited looks again, and finds most of it done. Beside our folder, which may have to go. */
async function hold(commonDir: string): Promise<() => void> {
  const lock = join(commonDir, "pawl.lock");
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    const release = explained(() => tryAcquire(lock));
    if (release)
      return () => {
        release();
        removeIfEmpty(lock);
      };
    await pause(20 + Math.random() * 60);
  }
  throw new Failure("conflict", "install_running", "Another install or uninstall is running here.", {
    hint: "Wait for it to end, then run this again.",
  });
}

function explained<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw explainFileError(error, "The installation could not be changed");
  }
}

function prepareFor(
  tree: Tree,
  place: Place,
  git: TreeGit,
  request: SurfaceRequest,
): PreparedCommit | undefined {
  const recorded = new Set(planInstallation(tree, request).after?.files.map((one) => one.path));
  const disk = looker(tree);
  const all = surfacesOf(tree, request).wanted;
  // A seed that the user edited is the user's to commit.
  const wanted = all.filter(
    (one) => recorded.has(one.path) && !(one.mode === "own" && one.seed && disk(one.path).text !== one.text),
  );
  const stays = new Set(all.map((one) => one.path));
  return prepareCommit({
    git,
    look: lookAtCommit(place, git),
    wanted,
    stays,
    disk,
    force: request.force,
    version: VERSION,
  });
}

/** What the clone keeps for an installation alone. Copies of the user's files stay while there are any. */
function removeRuntime(local: string, commonDir: string): string[] {
  step("uninstall runtime");
  const runtime = runtimeOf(commonDir);
  const aside = `${runtime}.removing`;
  rmSync(aside, { recursive: true, force: true });
  if (existsSync(runtime)) renameSync(runtime, aside);
  const own = ["installed.json", "installing", "environment.json"].map((name) => join(local, name));
  for (const path of [aside, ...own]) rmSync(path, { recursive: true, force: true });
  const kept = join(local, "kept");
  const copies = namesIfPresent(kept);
  if (copies.length === 0) rmSync(kept, { recursive: true, force: true });
  removeIfEmpty(local);
  return copies.map((name) => join(kept, name));
}
