import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { tryAcquire } from "../../files/intent-lock.ts";
import { canonicalPath, occupied } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import type { Worktrees } from "../../ports/worktrees.ts";
import type { Place } from "../discover.ts";
import { Git } from "../run-git.ts";
import { bindWorktree, lockWorktree, noteHolder, releaseWorktree } from "./bind.ts";
import { buildWorktree, putBack } from "./build.ts";
import { listWorktrees } from "./entries.ts";
import { beforeRemoval, contentOf, lastSign } from "./look.ts";
import { deleteBranch, lookAt, makeBranch } from "./refs.ts";
import { bringBack, discard, doom, forget, resumeRemoval, setAside, undo, whereabouts } from "./remove.ts";
import { SiteGit } from "./site-git.ts";

export interface WorktreesAround {
  cwd: string;
  env: Environment;
  place: Place;
  /** Where a task is held while its worktrees are made or removed. */
  held: string;
  /** Completes what a killed process had decided to write down, so that the records say how far it came. */
  recover(): void;
  /** The names of the clones whose worktrees are on this machine. */
  clones(): readonly string[];
}

export function openWorktrees(around: WorktreesAround): Worktrees {
  const { cwd, env, place: here } = around;
  const git = (site: Site) => new SiteGit(site, env);
  const isDirty = async (path: string) => {
    const status = ["status", "--porcelain", "-unormal"];
    return (await Git.in("user", env, path).expect("git status failed", status)) !== "";
  };
  return {
    hold(task) {
      mkdirSync(around.held, { recursive: true });
      const release = tryAcquire(join(around.held, task));
      if (release) around.recover();
      return release;
    },
    isOurs: (clone) => around.clones().includes(clone),

    look: (site) => lookAt(git(site)),
    here: () =>
      here.root === undefined
        ? undefined
        : listWorktrees(here.commonDir, here.mainRoot).find(
            (one) => canonicalPath(join(here.commonDir, one.gitDir)) === canonicalPath(here.gitDir),
          ),
    place: (site, path) => resolve(site.mainRoot ?? dirname(site.commonDir), path),
    occupied,
    async lacks(site, commit, path) {
      if (site.mainRoot === undefined || !existsSync(join(site.mainRoot, path))) return false;
      return (await git(site).ask(["cat-file", "-e", `${commit}:${path}`])).code !== 0;
    },
    async mergeBase(site, one, other) {
      return git(site).line(["merge-base", one, other]);
    },
    contains: (site, commit, inside) => git(site).isAncestor(commit, inside),
    isDirty,
    lastSign: (site, worktree) => lastSign(site.commonDir, worktree),
    content: (path) => contentOf(path, env),
    async isKept(site, ref, commit, tree) {
      const kept = await git(site).commitOf(ref);
      if (kept === undefined || !(await git(site).isAncestor(commit, kept))) return false;
      return (await git(site).line(["rev-parse", `${commit}^{tree}`])) === tree;
    },
    beforeRemoval: (site, worktree, leaving) => beforeRemoval(site, worktree, { cwd, env, leaving }),

    makeBranch: (place, commit) => makeBranch(git(place.site), place, commit),
    async build(place) {
      await resumeRemoval(git(place.site), place);
      return buildWorktree(git(place.site), place, env);
    },
    putBack: (place, { commit }) => putBack(place, commit, env),
    bind: (place) => bindWorktree(git(place.site), place),
    noteHolder,
    release: (place) => releaseWorktree(git(place.site), place),
    lockAs: (place, reason) => lockWorktree(git(place.site), place, reason.replace(/\s+/g, " ")),
    undo: (place, commit) => undo(git(place.site), place, commit, async (path) => !(await isDirty(path))),
    forget: (site, worktree) => forget(git(site), worktree),
    whereabouts,
    setAside: (place) => setAside(git(place.site), place),
    bringBack: (place) => bringBack(git(place.site), place),
    doom,
    discard: (place) => discard(git(place.site), place),
    deleteBranch: (place, commit) => deleteBranch(git(place.site), place, commit),
  };
}
