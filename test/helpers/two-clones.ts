import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test as base } from "vitest";
import { openProject, type Project } from "./command-line.ts";
import { askStateGit, makeRepository, makeTemporaryFolder, stateGitDirOf } from "./temporary-repository.ts";

export interface Clones {
  root: string;
  /** The bare repository that both exchange with. */
  remote: string;
  ada: Project;
  ben: Project;
  clone(name: string): Project;
  remoteGit(...args: string[]): string;
}

export function makeClones(root: string): Clones {
  const first = makeRepository(root);
  const { env } = first;
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
  const remote = join(root, "the remote.git");
  git(root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
  git(first.path, "remote", "add", "origin", remote);
  git(first.path, "push", "-q", "origin", "main");
  const clone = (name: string) => {
    git(root, "clone", "-q", "--template=", remote, name);
    return openProject({ path: join(root, name), env: { ...env, PAWL_ACTOR: name } });
  };
  return {
    root,
    remote,
    ada: openProject(first),
    ben: clone("ben s clone"),
    clone,
    remoteGit: (...args) => git(remote, ...args),
  };
}

export const stateTip = (project: Project) => askStateGit(project, "rev-parse", "pawl/state");
export const stateTree = (project: Project) => askStateGit(project, "rev-parse", "pawl/state^{tree}");

/** Every commit that was ever the tip of this clone's state is part of what it is now. */
export function expectContained(project: Project, commit: string): void {
  execFileSync("git", ["--git-dir", stateGitDirOf(project), "merge-base", "--is-ancestor", commit, "pawl/state"]);
}

/** Two clones of one bare repository, in folders with spaces in their names. */
export const test = base.extend<{ clones: Clones }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the wanted fixtures from this pattern
  clones: async ({}, use) => {
    const root = makeTemporaryFolder("sync");
    await use(makeClones(root));
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  },
});
