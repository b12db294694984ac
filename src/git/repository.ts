import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { Place } from "./discover.ts";
import type { Head } from "./refs.ts";
import { Git } from "./run-git.ts";
import { hashWorkingTree, type WorkingTree } from "./working-tree.ts";

/** Questions to the user's repository. None of them writes to it: not the index, not a ref, not an object. */
export interface Repository {
  head(): Promise<Head>;
  isDirty(): Promise<boolean>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  resolveCommit(name: string): Promise<string | undefined>;
  differ(one: string, other: string): Promise<boolean>;
  lineAt(commit: string, file: string, line: number): Promise<string | undefined>;
  workingTree(): Promise<WorkingTree | undefined>;
  changedFiles(base: string): Promise<string[]>;
  userName(): Promise<string | undefined>;
}

export function openRepository(place: Place, env: Environment): Repository {
  const git = Git.in("user", env, place.root ?? place.gitDir);
  return {
    async head() {
      const branch = await git.line(["symbolic-ref", "-q", "--short", "HEAD"]);
      return { branch, commit: await git.commitOf("HEAD") };
    },
    async isDirty() {
      if (!place.root) return false;
      return (await git.expect("git status failed", ["status", "--porcelain", "-uall"])) !== "";
    },
    async isAncestor(ancestor, descendant) {
      const { code, err } = await git.ask(["merge-base", "--is-ancestor", ancestor, descendant]);
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
    resolveCommit: (name) => git.commitOf(name),
    async differ(one, other) {
      const trees = await Promise.all(
        [one, other].map((commit) => git.line(["rev-parse", `${commit}^{tree}`])),
      );
      return trees[0] === undefined || trees[0] !== trees[1];
    },
    async lineAt(commit, file, line) {
      const { code, out } = await git.ask(["cat-file", "blob", `${commit}:${file}`]);
      return code === 0 ? out.split("\n")[line - 1] : undefined;
    },
    workingTree: () =>
      place.root ? hashWorkingTree(place, env, { readAll: true }) : Promise.resolve(undefined),
    async changedFiles(base) {
      const names = (from: readonly string[]) => git.ask(["diff", "--name-only", "-z", ...from]);
      const [sinceSplit, fresh] = await Promise.all([
        names(["--merge-base", "--end-of-options", base]),
        git.ask(["ls-files", "-z", "--others", "--exclude-standard"]),
      ]);
      // Two histories without a common commit have no split; what differs from the base is what changed then.
      const tracked = sinceSplit.code === 0 ? sinceSplit : await names(["--end-of-options", base]);
      return [...new Set([...tracked.out.split("\0"), ...fresh.out.split("\0")])].filter(Boolean).sort();
    },
    userName: () => git.line(["config", "user.name"]),
  };
}
