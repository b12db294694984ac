import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place } from "../git/discover.ts";
import type { Trace } from "../ports/audit-facts.ts";
import type { Audits } from "../ports/audits.ts";
import type { GitHands } from "../ports/git-hands.ts";
import type { Merges } from "../ports/merges.ts";
import type { Sites } from "../ports/sites.ts";
import { type Home, heldDir, mergingDir, stagingDir } from "../store/layout.ts";
import { homeSite } from "../store/state/home-site.ts";
import { isAtNewest } from "../store/state/is-complete.ts";
import type { Surroundings } from "./open.ts";

/** The clone's own copy of the program; the one that runs now may be gone tomorrow. */
export function programOf(commonDir: string): string | undefined {
  const folder = join(commonDir, "pawl", "runtime");
  return existsSync(join(folder, "pawl.cjs")) ? folder : undefined;
}

/** The folder of the program that runs, as the build made it; undefined for sources and programs of tests. */
export function builtProgram(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  return [here, dirname(here)].find((folder) => existsSync(join(folder, "runtime.json")));
}

/** Everything here is imported when it is asked for: no reading command needs any of it. */
export function openGitHands(around: Surroundings, place: Place, home: () => Home): GitHands {
  const sites = async () => (await import("./sites.ts")).openSites(around, place, home());
  return {
    sites,
    worktrees: async () => {
      const { openWorktrees } = await import("../git/worktrees/open.ts");
      const { readClone } = await import("../store/home.ts");
      const { finishUnfinished } = await import("../store/transaction.ts");
      const all = (await sites()).all();
      return openWorktrees({
        cwd: around.cwd,
        env: around.env,
        place,
        held: heldDir(home()),
        recover: () => finishUnfinished(home()),
        clones: () => all.flatMap((site) => readClone(join(site.commonDir, "pawl")) ?? []),
      });
    },
    stateExchange: async () =>
      (await import("../store/state/state-exchange.ts")).openStateExchange(around, place, sites),
    stateFolder: async () =>
      (await import("../store/state/state-folder.ts")).openStateFolder(place, home(), around.env),
    lostRecords: async () => {
      const { state, gitDir } = home();
      if (isAtNewest(gitDir)) return undefined;
      return (await import("../store/state/newest-tip.ts")).lostTip({ state, gitDir, env: around.env });
    },
    claims: async () => {
      const { openClaims } = await import("../store/claims.ts");
      const site = async () => homeSite(await sites());
      return openClaims({ env: around.env, home: home(), site });
    },
    remotes: async () => (await import("../git/remotes.ts")).openRemotes(around.env),
    snapshots: async () => {
      const { state } = home();
      const folders = { state, staging: stagingDir(home()) };
      return (await import("../git/snapshots.ts")).openSnapshots(folders, around.env);
    },
    installation: async () => {
      const { openInstallation } = await import("../installer/open.ts");
      return openInstallation({
        place,
        cwd: around.cwd,
        env: around.env,
        program: builtProgram(),
        commands: around.operations,
      });
    },
    guard: async () => {
      const { openGuard } = await import("../guard/open.ts");
      const { readConfigText } = await import("../model/config.ts");
      const { fullYaml } = await import("../model/markdown/full-yaml.ts");
      const copy = programOf(place.commonDir);
      return openGuard({
        env: around.env,
        programs: {
          node: process.execPath,
          program: copy ? join(copy, "pawl.cjs") : (process.argv[1] ?? ""),
        },
        readConfig: (where, text) => readConfigText(where, text, fullYaml),
      });
    },
    targets: async () => (await import("../git/merging/open-targets.ts")).openTargets(around.env),
    merges: async () => mergesOf(around, await sites(), home()),
    audits: () => auditsOf(around, home),
    rescues: async () => (await import("../git/rescue/open.ts")).openRescues(around.env),
    locks: async () => (await import("../git/locks.ts")).openLocks(),
    branches: async () => (await import("../git/branches.ts")).openBranches(await sites(), around.env),
  };
}

async function mergesOf(around: Surroundings, sites: Sites, home: Home): Promise<Merges> {
  const { openMerges } = await import("../git/merging/open-merges.ts");
  const { runCheck } = await import("./run-check.ts");
  const { env, progress } = around;
  return openMerges({
    env,
    sites,
    folder: mergingDir(home),
    settleRecords: async () => (await import("../store/transaction.ts")).finishUnfinished(home),
    runCheck: (argv, cwd, policy) => runCheck(argv, { cwd, env, local: home.local, policy, progress }),
  });
}

async function auditsOf({ env, progress }: Surroundings, home: () => Home): Promise<Audits> {
  const { openAudits } = await import("../git/audit/open-audits.ts");
  const { guardTraces } = await import("../guard/traces.ts");
  const { readClone } = await import("../store/home.ts");
  const { changedFiles, runtimeOf } = await import("../installer/runtime/runtime-copy.ts");
  const programTraces = (commonDir: string): Trace[] =>
    changedFiles(runtimeOf(commonDir)).map((where) => ({ code: "program_changed", where, said: "" }));
  return openAudits({
    env,
    cloneOf: (commonDir) => readClone(join(commonDir, "pawl")),
    guard: {
      traces: async (site, guarded) => [...guardTraces(site, env, guarded), ...programTraces(site.commonDir)],
    },
    progress: (line) => progress(Buffer.from(`${line}\n`)),
    stateDir: () => home().gitDir,
  });
}
