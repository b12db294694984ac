import { existsSync } from "node:fs";
import { textIfPresent } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { refOfBranch } from "../model/naming.ts";
import { LEDGER_FILE, POLICY_FILE } from "../model/paths.ts";
import type { RunRepo } from "../model/records/run.ts";
import type { Branches, BranchState } from "../ports/branches.ts";
import type { Site, Sites } from "../ports/sites.ts";
import { branchFacts, containsAll, isUndone } from "./branch-facts.ts";
import { isSurelyClean } from "./quick-clean.ts";
import { targetOf, tipOf } from "./refs.ts";
import { gitDirOf, worktreesOf } from "./repository-files.ts";
import { notedStrays } from "./strays.ts";

export function openBranches(sites: Sites, env: Environment): Branches {
  return {
    look: (repo, options) => look(sites, repo, env, options?.fresh ?? false),
    between: (site, head, base) => between(site, head, base, env),
    async changes(repo) {
      const { askChanges } = await import("./ask-branches.ts");
      return askChanges(sites.named(repo.name).commonDir, repo, env);
    },
    async contains(repo, commits, options) {
      const { commonDir } = sites.named(repo.name);
      const head = tipOf(commonDir, refOfBranch(repo.branch));
      if (head === undefined) return commits.length === 0;
      return containsAll(commonDir, head, commits, env, options?.fresh ?? false);
    },
    undone: (repo, head, change, options) =>
      isUndone(sites.named(repo).commonDir, head, change, env, options?.fresh ?? false),
    ref: (repo, ref) => tipOf(sites.named(repo).commonDir, ref),
    async policy({ name, base_branch }) {
      const { commonDir, mainRoot } = sites.named(name);
      const tip = tipOf(commonDir, refOfBranch(base_branch));
      const { askText } = await import("./ask-branches.ts");
      return {
        base: tip && (await askText(commonDir, tip, POLICY_FILE, env)),
        main: mainRoot && policyAt(`${mainRoot}/${POLICY_FILE}`),
      };
    },
    tip(repo) {
      const site = sites.all().find((one) => one.name === repo.name);
      return site && tipOf(site.commonDir, refOfBranch(repo.branch));
    },
  };
}

async function look(sites: Sites, repo: RunRepo, env: Environment, fresh: boolean): Promise<BranchState> {
  const site = sites.named(repo.name);
  const path = sites.locate(site, repo.worktree);
  const [head, base] = [repo.branch, repo.base_branch].map((name) =>
    tipOf(site.commonDir, refOfBranch(name)),
  );
  const facts = head && base ? await branchFacts(site.commonDir, head, base, env, fresh) : undefined;
  const gitDir = gitDirOf(path);
  const working = gitDir ? changedIn({ path, gitDir }, repo, facts?.tree, env) : undefined;
  const noted = new Set(notedStrays(site.commonDir));
  const targets = checkoutsOf(site, refOfBranch(repo.base_branch)).map(async (worktree) => {
    const files = await changesOf(worktree, facts?.baseTree, false, env);
    const strays = worktree.path === site.mainRoot ? files.filter((file) => noted.has(file)) : [];
    return { worktree: worktree.path, files, strays };
  });
  const [dirty, ...targetDirty] = await Promise.all([working, ...targets]);
  return {
    path,
    head,
    base,
    tree: facts?.tree,
    contained: facts?.contained ?? false,
    changed: facts?.changed ?? false,
    conflicts: facts?.conflicts ?? [],
    dirty,
    targetDirty: targetDirty.filter((one) => one.files.length > 0),
    policy: {
      base: facts?.policy,
      worktree: policyAt(`${path}/${POLICY_FILE}`),
      main: site.mainRoot && policyAt(`${site.mainRoot}/${POLICY_FILE}`),
    },
    surfacesMissing:
      facts !== undefined &&
      !facts.surfaces &&
      site.mainRoot !== undefined &&
      existsSync(`${site.mainRoot}/${LEDGER_FILE}`),
    defaultBranch: targetOf(site.commonDir, "refs/remotes/origin/HEAD")?.replace(
      /^refs\/remotes\/origin\//,
      "",
    ),
  };
}

async function between(site: Site, head: string, base: string, env: Environment): Promise<BranchState> {
  const { tree, contained, changed, conflicts, policy } = await branchFacts(
    site.commonDir,
    head,
    base,
    env,
    true,
  );
  return {
    path: ".",
    head,
    base,
    tree,
    contained,
    changed,
    conflicts,
    dirty: [],
    targetDirty: [],
    policy: { base: policy, worktree: undefined, main: undefined },
    surfacesMissing: false,
    defaultBranch: undefined,
  };
}

interface Worktree {
  path: string;
  gitDir: string;
}

/** The worktree's own changes; one that has another branch checked out is as good as changed. */
async function changedIn(
  worktree: Worktree,
  repo: RunRepo,
  tree: string | undefined,
  env: Environment,
): Promise<string[]> {
  const files = await changesOf(worktree, tree, true, env);
  const isOn = targetOf(worktree.gitDir, "HEAD") === refOfBranch(repo.branch);
  return isOn ? files : [`HEAD (not on ${repo.branch})`, ...files];
}

/** What differs from the commit, new files included if asked for; git is started only if there may be anything. */
async function changesOf(
  { path, gitDir }: Worktree,
  tree: string | undefined,
  untracked: boolean,
  env: Environment,
): Promise<string[]> {
  if (tree && (await isSurelyClean(path, gitDir, { tree }, { untracked }))) return [];
  const { askStatus } = await import("./ask-branches.ts");
  return askStatus(path, untracked, env);
}

/** Every worktree that is there and has this branch checked out. */
function checkoutsOf(site: Site, ref: string): Worktree[] {
  return worktreesOf(site).flatMap(({ root, gitDir }) =>
    root && targetOf(gitDir, "HEAD") === ref && existsSync(`${root}/.git`) ? [{ path: root, gitDir }] : [],
  );
}

/** Absent is a fact; unreadable is none, and nothing may pass because of it. */
function policyAt(path: string): string | undefined {
  try {
    return textIfPresent(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure("unreadable", "unreadable_file", `${path} cannot be read (${code}).`, {
      details: { file: path },
      cause: error,
    });
  }
}
