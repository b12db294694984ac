import { execFile, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { parseBatch } from "../../git/cat-file.ts";
import { askGit, expectGit, scrubbed } from "../../git/run-git.ts";
import type { StateRepository } from "./state-repository.ts";

/** Files by path, as one commit of the state has them: the id of each one's content. */
export type Listing = Map<string, string>;

const LIMIT = 2 ** 30;

const callIn = (repo: StateRepository) => ({
  cwd: repo.gitDir,
  env: repo.env,
  extra: { GIT_DIR: repo.gitDir },
});

/**
 * Only plain files with plain names: a link, or a name that means something to git or to this machine, is nothing
 * that a record could be, and is not taken from anybody.
 */
export async function listFiles(repo: StateRepository, commit: string): Promise<Listing> {
  const answer = await askGit(["ls-tree", "-r", "-z", "--full-tree", commit], callIn(repo));
  const files: Listing = new Map();
  for (const entry of expectGit(answer, "The state's history could not be read").split("\0")) {
    const [, id, path] = /^100(?:644|755) blob ([0-9a-f]+)\t([\s\S]+)$/.exec(entry) ?? [];
    if (id && path && !/(?:^|\/)\.|\\/.test(path)) files.set(path, id);
  }
  return files;
}

/** The contents of many files at once. */
export function readContents(repo: StateRepository, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const { cwd, env, extra } = callIn(repo);
  return new Promise((done, fail) => {
    const child = execFile(
      "git",
      ["cat-file", "--batch"],
      { cwd, env: scrubbed(env, extra), maxBuffer: LIMIT, encoding: "buffer" },
      (error, out) => (error ? fail(error) : done(parseBatch(out))),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(ids.map((id) => `${id}\n`).join(""));
  });
}

/** Writes a file's content where it can be moved from, without holding it. */
export function writeContent(repo: StateRepository, id: string, file: string): void {
  const fd = openSync(file, "wx");
  try {
    const { cwd, env, extra } = callIn(repo);
    const run = spawnSync("git", ["cat-file", "blob", id], {
      cwd,
      env: scrubbed(env, extra),
      stdio: ["ignore", fd, "pipe"],
      encoding: "utf8",
    });
    const answer = { code: run.status ?? 128, out: "", err: run.stderr ?? "" };
    expectGit(answer, "The state's history could not be read");
  } finally {
    closeSync(fd);
  }
}

export async function isAncestor(repo: StateRepository, ancestor: string, descendant: string) {
  return (await askGit(["merge-base", "--is-ancestor", ancestor, descendant], callIn(repo))).code === 0;
}

/** The last states that both sides had; more than one when they were joined crosswise, none when they never met. */
export async function mergeBases(repo: StateRepository, ours: string, theirs: string): Promise<string[]> {
  const { out } = await askGit(["merge-base", "--all", ours, theirs], callIn(repo));
  return out.split("\n").filter(Boolean);
}
