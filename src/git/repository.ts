import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { Place } from "./discover.ts";
import type { Head } from "./refs.ts";
import { askGit, expectGit } from "./run-git.ts";
import { hashWorkingTree, type WorkingTree } from "./working-tree.ts";

/** Questions to the user's repository. None of them writes to it: not the index, not a ref, not an object. */
export interface Repository {
  head(): Promise<Head>;
  isDirty(): Promise<boolean>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  resolveCommit(name: string): Promise<string | undefined>;
  workingTree(): Promise<WorkingTree | undefined>;
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
      const { code, err } = await ask(["merge-base", "--is-ancestor", ancestor, descendant]);
      if (code <= 1) return code === 0;
      throw new Failure(
        "unreadable",
        "commit_missing",
        `git cannot tell whether ${ancestor.slice(0, 12)} is part of it.`,
        {
          hint: `Fetch the commit first. git said: ${err.trim().slice(0, 200)}`,
        },
      );
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
