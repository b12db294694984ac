import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Head, Place } from "./discover.ts";
import { askGit, expectGit } from "./run-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Questions to the user's repository. None of them writes to it: not the index, not a ref, not an object. */
export interface Repository {
  head(): Promise<Head>;
  isDirty(): Promise<boolean>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  resolveCommit(name: string): Promise<string | undefined>;
  workingTree(): Promise<string | undefined>;
  changedFiles(base: string): Promise<string[]>;
  userName(): Promise<string | undefined>;
}

export function openRepository(place: Place, env: Environment): Repository {
  const cwd = place.root ?? place.gitDir;
  const ask = (args: string[], extra?: Record<string, string>) =>
    askGit(args, { cwd, env, ...(extra ? { extra } : {}) });
  const line = async (args: string[]) => {
    const answer = await ask(args);
    return answer.code === 0 ? answer.out.trim() || undefined : undefined;
  };
  return {
    async head() {
      const branch = await line(["symbolic-ref", "-q", "--short", "HEAD"]);
      return { branch, commit: await line(["rev-parse", "-q", "--verify", "HEAD^{commit}"]) };
    },
    async isDirty() {
      if (!place.root) return false;
      return expectGit(await ask(["status", "--porcelain", "-uall"]), "git status failed") !== "";
    },
    async isAncestor(ancestor, descendant) {
      return (await ask(["merge-base", "--is-ancestor", ancestor, descendant])).code === 0;
    },
    resolveCommit: (name) => line(["rev-parse", "-q", "--verify", "--end-of-options", `${name}^{commit}`]),
    workingTree: () => (place.root ? hashWorkingTree(place, env) : Promise.resolve(undefined)),
    async changedFiles(base) {
      const split = await line(["merge-base", base, "HEAD"]);
      const from = split ?? base;
      const tracked = await ask(["diff", "--name-only", "-z", "--end-of-options", from]);
      const fresh = await ask(["ls-files", "-z", "--others", "--exclude-standard"]);
      return [...new Set([...tracked.out.split("\0"), ...fresh.out.split("\0")])].filter(Boolean).sort();
    },
    userName: () => line(["config", "user.name"]),
  };
}

/**
 * The tree of what is really there, uncommitted and untracked files included. It is built in a copy of the index
 * and a throw-away object store, so that the user's repository does not change by a byte.
 */
async function hashWorkingTree(place: Place, env: Environment): Promise<string | undefined> {
  const scratch = mkdtempSync(join(tmpdir(), "pawl-tree-"));
  try {
    const index = join(scratch, "index");
    if (existsSync(join(place.gitDir, "index"))) copyFileSync(join(place.gitDir, "index"), index);
    mkdirSync(join(scratch, "objects"));
    const call = {
      cwd: place.root ?? place.gitDir,
      env,
      extra: {
        GIT_DIR: place.gitDir,
        GIT_WORK_TREE: place.root ?? "",
        GIT_INDEX_FILE: index,
        GIT_OBJECT_DIRECTORY: join(scratch, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(place.commonDir, "objects")),
      },
    };
    const quiet = ["-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false"];
    expectGit(await askGit([...quiet, "add", "-A", "--", "."], call), "The working tree could not be hashed");
    return expectGit(await askGit(["write-tree"], call), "The working tree could not be hashed");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
