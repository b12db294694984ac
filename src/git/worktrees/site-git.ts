import { rmSync, statSync } from "node:fs";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import { tipOf } from "../refs.ts";
import { askGit, expectGit, type GitAnswer } from "../run-git.ts";

/** Git commands about a repository as a whole, run at its main worktree or inside a bare one. */
export interface SiteGit {
  site: Site;
  ask(args: readonly string[], stdin?: string): Promise<GitAnswer>;
  /** The answer of a command that has to succeed. */
  expect(args: readonly string[], what: string): Promise<string>;
  /** Where a branch is, from git's files: a git of its own would cost more than everything else about a start. */
  tip(ref: string): string | undefined;
  /** The commit that a ref points at. */
  commitOf(ref: string): Promise<string | undefined>;
}

/** For what is only ours: no hook of the user's sees a worktree being made in a place that it will not stay in. */
export const WITHOUT_HOOKS = ["-c", "core.hooksPath=/dev/null"];

export function gitAt(site: Site, env: Environment): SiteGit {
  const cwd = site.mainRoot ?? site.commonDir;
  // A bare repository is named outright, because git may be told not to recognise one by itself.
  const extra = site.mainRoot === undefined ? { GIT_DIR: site.commonDir } : undefined;
  const ask = (args: readonly string[], stdin?: string) =>
    askGit(args, { cwd, env, ...(extra ? { extra } : {}), ...(stdin === undefined ? {} : { stdin }) });
  return {
    site,
    ask,
    tip: (ref) => tipOf(site.commonDir, ref),
    expect: async (args, what) => expectGit(await ask(args), what),
    async commitOf(ref) {
      const { code, out } = await ask(["rev-parse", "-q", "--verify", "--end-of-options", `${ref}^{commit}`]);
      return code === 0 ? out.trim() : undefined;
    },
  };
}

const LOCK_IS_STALE_MS = 1_000;

/** Git holds a lock of its own for milliseconds; one that is still there after this was left by a git that was killed. */
export async function outwaitLock(path: string): Promise<void> {
  for (;;) {
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (touched === undefined) return;
    const age = Date.now() - touched;
    if (age > LOCK_IS_STALE_MS || age < 0) break;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  rmSync(path, { force: true });
}
