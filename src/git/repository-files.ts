import { dirname, resolve } from "node:path";
import {
  lineIfReadable,
  namesIfReadable,
  realpathOr,
  statIfPresent,
  textIfPresent,
  textIfReadable,
} from "../files/read.ts";
import { configValue, isOn } from "./config-file.ts";

/* How git lays a repository and its worktrees out on the disk. How it keeps refs is known to refs.ts alone. */

/** The git directory that a folder's own `.git` is or names, whether it is there or not. */
export function gitDirOf(folder: string): string | undefined {
  const dotGit = `${folder}/.git`;
  const stat = statIfPresent(dotGit);
  if (stat?.isDirectory()) return dotGit;
  const target = stat?.isFile() && /^gitdir: (.*)$/m.exec(textIfPresent(dotGit) ?? "")?.[1]?.trim();
  return target ? resolve(folder, target) : undefined;
}

/** The directory that all worktrees share. */
export function commonDirOf(gitDir: string): string {
  return realpathOr(resolve(gitDir, lineIfReadable(`${gitDir}/commondir`) ?? "."));
}

export const isBare = (commonDir: string) =>
  isOn(configValue(textIfReadable(`${commonDir}/config`) ?? "", "core", "bare"));

/** A worktree as git's files have it. */
export interface Worktree {
  /** Relative to the common git directory: `worktrees/<id>`, or `.` for the main one. */
  id: string;
  gitDir: string;
  /** Its folder, whether it is there or not; undefined in a bare repository, and while git is still making it. */
  root: string | undefined;
}

/** Every worktree of a repository, the main one first, from git's own files: they tell more than its listing, and cost less. */
export function worktreesOf({
  commonDir,
  mainRoot,
}: {
  commonDir: string;
  mainRoot: string | undefined;
}): Worktree[] {
  const linked = namesIfReadable(`${commonDir}/worktrees`).sort();
  return [
    { id: ".", gitDir: commonDir, root: mainRoot },
    ...linked.map((name) => {
      const gitDir = `${commonDir}/worktrees/${name}`;
      return { id: `worktrees/${name}`, gitDir, root: rootOf(gitDir) };
    }),
  ];
}

/** The folder of a linked worktree, as its git directory has it now: worktrees can be moved. */
export function rootOf(gitDir: string): string | undefined {
  const link = lineIfReadable(`${gitDir}/gitdir`);
  return link && dirname(resolve(gitDir, link));
}
