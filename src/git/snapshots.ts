import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../files/durable.ts";
import type { Environment } from "../model/environment.ts";
import { refOfBranch } from "../model/naming.ts";
import type { RunRepo } from "../model/records/run.ts";
import type { SavedPatch, Snapshots } from "../ports/snapshots.ts";
import { Git } from "./run-git.ts";
import { commitWork, findSource } from "./snapshot-commit.ts";
import { openPatch, writePatch } from "./snapshot-patch.ts";

/** `staging` is on the disk of the state, where a finished file can be moved into place. */
export function openSnapshots(folders: { state: string; staging: string }, env: Environment): Snapshots {
  const newFile = () => {
    makeFolder(folders.staging);
    return join(folders.staging, `patch-${process.pid}-${randomBytes(4).toString("hex")}`);
  };
  const discard = (patches: readonly string[]) => {
    for (const path of patches) rmSync(path, { force: true });
  };
  return {
    discard,
    async save(site, repo, worktree, run) {
      const source = await findSource(site, repo, worktree, env);
      const work = await commitWork(site, repo, source, run, env);
      const patch = newFile();
      try {
        const { whole, ...commit } = work;
        const base_head = await beginningOf(Git.of("quiet", env, site.commonDir), repo, work.head);
        const facts = await writePatch(site, base_head, work.commit, patch, env);
        return {
          // In the order of the record's fields, because that is how it is compared.
          snapshot: { repo: repo.name, ...commit, base_head, ...facts, whole },
          patch,
          warnings: warningsOf(repo.name, source.place !== undefined, work.whole),
        };
      } catch (error) {
        discard([patch]);
        throw error;
      }
    },
    async source(site, repo, worktree) {
      return (await findSource(site, repo, worktree, env)).place ? "worktree" : "branch";
    },
    open: async (path, sha256) => openPatch(join(folders.state, path), sha256, env),
    async remake(site, snapshot, { since, ignoreSpace } = {}) {
      const git = Git.of("quiet", env, site.commonDir);
      const [from, to] = await Promise.all([
        git.commitOf(since ?? snapshot.base_head),
        git.commitOf(snapshot.commit),
      ]);
      if (from === undefined || to === undefined) return undefined;
      const file = newFile();
      const facts = await writePatch(site, from, to, file, env, ignoreSpace ? ["-w"] : []);
      const patch = openPatch(file, undefined, env);
      return patch && { patch: closing(patch, () => discard([file])), facts: { base_head: from, ...facts } };
    },
    async lines(site, snapshot, path) {
      const blob = ["cat-file", "blob", `${snapshot.commit}:${path}`];
      const { code, out } = await Git.of("quiet", env, site.commonDir).ask(blob);
      return code === 0 ? out.split("\n") : undefined;
    },
    keeps: async (site, snapshot) =>
      (await Git.of("quiet", env, site.commonDir).commitOf(snapshot.commit)) !== undefined,
    async hasMovedOn(site, repo, snapshot) {
      const tip = await Git.of("quiet", env, site.commonDir).commitOf(refOfBranch(repo.branch));
      return tip !== undefined && tip !== snapshot.head;
    },
  };
}

/**
 * Where the task's own change begins: what the base brought in after the run began is not part of it. Once the base has
 * all of the work, only where the run began tells what it did.
 */
async function beginningOf(git: Git, { base_branch, base_head }: RunRepo, head: string): Promise<string> {
  const split = await git.line(["merge-base", refOfBranch(base_branch), head]);
  if (split === undefined || split === head) return base_head;
  const isLater = (await git.ask(["merge-base", "--is-ancestor", base_head, split])).code === 0;
  return isLater ? split : base_head;
}

function closing(patch: SavedPatch, after: () => void): SavedPatch {
  return {
    ...patch,
    close() {
      patch.close();
      after();
    },
  };
}

function warningsOf(repo: string, hasWorktree: boolean, whole: boolean): string[] {
  const warnings: string[] = [];
  if (!hasWorktree) warnings.push(`The worktree of ${repo} is gone; the commits of its branch were saved.`);
  if (!whole)
    warnings.push(
      `The snapshot of ${repo} is incomplete: changes inside submodules or nested repositories, and files that git could not read, are not in it.`,
    );
  return warnings;
}
