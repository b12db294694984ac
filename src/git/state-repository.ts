import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { Failure } from "../core/failure.ts";
import { askGit, askGitSync, expectGit, type GitAnswer } from "./run-git.ts";

/** The memory repository: its records are a work tree, its history lives out of reach of any clean. */
export interface StateRepository {
  state: string;
  gitDir: string;
  env: Readonly<Record<string, string | undefined>>;
}

export const STATE_BRANCH = "pawl/state";
const REF = `refs/heads/${STATE_BRANCH}`;

/**
 * Makes the memory repository, or puts back what is missing of it; every step may have been done before. A state
 * folder that was deleted comes back from its history. Callers hold a lock, so everything here is synchronous.
 */
export function prepare(repo: StateRepository): { restored: boolean } {
  mkdirSync(repo.state, { recursive: true });
  if (!existsSync(join(repo.gitDir, "HEAD"))) {
    mkdirSync(repo.gitDir, { recursive: true });
    const init = [
      "init",
      "-q",
      "--template=",
      "-b",
      STATE_BRANCH,
      "--separate-git-dir",
      repo.gitDir,
      repo.state,
    ];
    expectGit(
      askGitSync(init, { cwd: repo.state, env: repo.env }),
      "The memory repository could not be made",
    );
  }
  // Relative links, so that a project folder can be moved or copied with its memory.
  writeFileSync(join(repo.state, ".git"), `gitdir: ${slashes(relative(repo.state, repo.gitDir))}\n`);
  setting(repo, "core.worktree", slashes(relative(repo.gitDir, repo.state)));
  mkdirSync(join(repo.gitDir, "info"), { recursive: true });
  addLine(join(repo.gitDir, "info", "exclude"), "/.local/");
  const empty = readdirSync(repo.state).every((name) => name === ".git" || name === ".local");
  if (!empty || tip(repo) === undefined) return { restored: false };
  const index = privateIndex(repo);
  try {
    const restore = ["read-tree", "-u", "--reset", REF];
    expectGit(plumbing(repo, index, restore), "The state could not be brought back from its history");
  } finally {
    rmSync(index, { force: true });
  }
  return { restored: true };
}

/** Adds a line to a file of git's own, such as info/exclude, once, whatever its last line ends with. */
export function addLine(path: string, line: string): void {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.split(/\r?\n/).includes(line)) return;
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}

/**
 * Commits everything that the state folder holds. A private index and a compare-and-swap of the branch mean that
 * parallel commands cannot collide, and that a kill at any moment leaves no lock. Answers the new commit, or
 * undefined when there was nothing new.
 */
export async function commitState(repo: StateRepository, message: string): Promise<string | undefined> {
  const index = privateIndex(repo);
  // The ordinary index, so that a person who looks with plain git sees a clean state.
  const shared = join(repo.gitDir, "index");
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      // The last good index remembers which files are unchanged; without it every record is read again.
      if (existsSync(shared)) copyIndex(shared, index);
      const parent = tip(repo);
      if (!existsSync(shared) && parent) expectGit(await ask(repo, index, ["read-tree", parent]), "state");
      expectGit(await ask(repo, index, ["add", "-A", "--", "."]), "The state could not be committed");
      const tree = expectGit(await ask(repo, index, ["write-tree"]), "The state could not be committed");
      if (parent && expectGit(await ask(repo, index, ["rev-parse", `${parent}^{tree}`]), "state") === tree)
        return undefined;
      const parents = parent ? ["-p", parent] : [];
      const commit = expectGit(
        await ask(repo, index, ["commit-tree", "--no-gpg-sign", tree, ...parents], message),
        "The state could not be committed",
      );
      const moved = await ask(repo, index, [
        "update-ref",
        "-m",
        "pawl",
        REF,
        commit,
        parent ?? "0".repeat(40),
      ]);
      if (moved.code === 0) {
        renameSync(index, shared);
        return commit;
      }
    }
    throw new Failure("conflict", "state_busy", "Other commands kept committing the state at the same time.");
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

/** Git trusts an entry only if its file is older than the index, so a copy must keep the index's own time. */
function copyIndex(from: string, to: string): void {
  const { atime, mtime } = statSync(from);
  copyFileSync(from, to);
  utimesSync(to, atime, mtime);
}

function tip(repo: StateRepository): string | undefined {
  const answer = askGitSync(["--git-dir", repo.gitDir, "rev-parse", "-q", "--verify", `${REF}^{commit}`], {
    cwd: repo.gitDir,
    env: repo.env,
  });
  return answer.code === 0 ? answer.out.trim() : undefined;
}

const privateIndex = (repo: StateRepository) =>
  join(repo.gitDir, `pawl-index-${process.pid}-${randomBytes(4).toString("hex")}`);

function options(repo: StateRepository): string[] {
  return [
    ...["--git-dir", repo.gitDir, "--work-tree", repo.state],
    ...["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"],
    ...["-c", "core.fsmonitor=false", "-c", "core.excludesFile=", "-c", "core.attributesFile="],
  ];
}

function environment(index: string): Record<string, string> {
  return {
    GIT_INDEX_FILE: index,
    GIT_AUTHOR_NAME: "pawl",
    GIT_AUTHOR_EMAIL: "pawl@localhost",
    GIT_COMMITTER_NAME: "pawl",
    GIT_COMMITTER_EMAIL: "pawl@localhost",
  };
}

function ask(repo: StateRepository, index: string, args: string[], stdin?: string): Promise<GitAnswer> {
  return askGit([...options(repo), ...args], {
    cwd: repo.state,
    env: repo.env,
    extra: environment(index),
    ...(stdin === undefined ? {} : { stdin }),
  });
}

function plumbing(repo: StateRepository, index: string, args: string[]): GitAnswer {
  return askGitSync([...options(repo), ...args], {
    cwd: repo.state,
    env: repo.env,
    extra: environment(index),
  });
}

function setting(repo: StateRepository, name: string, value: string): void {
  const args = ["config", "--file", join(repo.gitDir, "config"), name, value];
  expectGit(
    askGitSync(args, { cwd: repo.gitDir, env: repo.env }),
    "The memory repository could not be set up",
  );
}

const slashes = (path: string) => path.replaceAll("\\", "/");
