import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { lineIfReadable, realpathOr } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { commonDirOf, gitDirOf, isBare } from "./repository-files.ts";

/** Where we stand, read from git's own files: a spawned git costs more than the whole of a read command. */
export interface Place {
  /** Top of the worktree we stand in; undefined inside a bare repository. */
  root: string | undefined;
  gitDir: string;
  /** Shared by all linked worktrees. */
  commonDir: string;
  /** Top of the main worktree, when the repository has an ordinary one. */
  mainRoot: string | undefined;
  /** The project's name in records: never a path. */
  name: string;
}

/** In a worktree's own git directory: the task that the worktree is bound to. */
export const BINDING = "pawl-task";
export const taskOfWorktree = (gitDir: string) => lineIfReadable(`${gitDir}/${BINDING}`);
/** Beside it: which agents the guard saw moving the task's branch (`hooks/reference-transaction.sh`). */
export const MOVERS = "pawl-authors";
/** What it says is kept when the worktree goes, because the work may be brought back: by the task's name, for the whole clone. */
export const keptMovers = (commonDir: string, task: string) => `${commonDir}/pawl/authors/${task}`;
/** And which session of an agent the task is held by; absent where a human holds it, or an agent that names no sessions. */
export const HOLDER = "pawl-holder";
export const holderOfWorktree = (gitDir: string) => lineIfReadable(`${gitDir}/${HOLDER}`);

export function discover(cwd: string, env: Environment = {}): Place | undefined {
  const named = env.GIT_DIR ? resolve(cwd, env.GIT_DIR) : undefined;
  if (named && existsSync(`${named}/HEAD`)) {
    const root = env.GIT_WORK_TREE ? resolve(cwd, env.GIT_WORK_TREE) : findUpwards(cwd)?.root;
    return describe(named, root ?? cwd, env);
  }
  const found = findUpwards(cwd);
  const place = found && describe(found.gitDir, found.root, env);
  return place && isContainer(place) ? { ...place, root: undefined } : place;
}

/** The folder around `.bare` whose `.git` file leads to it: worktrees lie there, but it is none. */
function isContainer({ root, gitDir, commonDir, mainRoot }: Place): boolean {
  // Where there is an ordinary main worktree, the repository is not bare.
  if (root === undefined || mainRoot !== undefined) return false;
  return realpathOr(gitDir) === commonDir && isBare(commonDir);
}

function findUpwards(cwd: string): { gitDir: string; root: string | undefined } | undefined {
  for (let dir = realpathOr(cwd); ; dir = dirname(dir)) {
    const gitDir = gitDirOf(dir);
    if (gitDir && existsSync(`${gitDir}/HEAD`)) return { gitDir, root: dir };
    // Whatever lies further up is another worktree; git does not take it for this one, and neither may we.
    if (gitDir && gitDir !== `${dir}/.git`) throw brokenLink(dir, gitDir);
    if (looksBare(dir)) return { gitDir: dir, root: undefined };
    if (dirname(dir) === dir) return undefined;
  }
}

function brokenLink(dir: string, target: string): Failure {
  return new Failure(
    "unreadable",
    "broken_worktree",
    `${dir} is a worktree whose git directory is gone: ${target}`,
    {
      hint: "If the repository was moved, run `git worktree repair` in its main worktree.",
      details: { file: `${dir}/.git` },
    },
  );
}

function looksBare(dir: string): boolean {
  return ["HEAD", "objects", "refs", "config"].every((name) => existsSync(`${dir}/${name}`));
}

function describe(gitDir: string, root: string | undefined, env: Environment): Place {
  const commonDir = env.GIT_COMMON_DIR ? resolve(gitDir, env.GIT_COMMON_DIR) : commonDirOf(gitDir);
  const mainRoot = basename(commonDir) === ".git" && !isBare(commonDir) ? dirname(commonDir) : undefined;
  // A repository kept as `project/.bare` or `project/.git` is called by its folder, `project.git` by its stem.
  const base = basename(commonDir);
  const name = base.startsWith(".") ? basename(dirname(commonDir)) : base.replace(/\.git$/, "");
  return { root, gitDir, commonDir, mainRoot, name: plainName(name) };
}

/** Records are files that are called by this name, so it has only letters, digits and what reads well between them. */
export function plainName(folder: string): string {
  // Most names are plain, and a pattern of all letters of Unicode takes a read a twentieth of its time to build.
  if (/^\w(?:[\w. -]*[\w.])?$/.test(folder)) return folder;
  const plain = folder.normalize("NFC").replace(/[^\p{L}\p{N}_. -]+/gu, "-");
  return plain.replace(/^[^\p{L}\p{N}_]+|[ -]+$/gu, "") || "project";
}
