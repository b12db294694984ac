import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { lineIfReadable, removeIfEmpty } from "../files/read.ts";

/**
 * One-line files that the hooks read with nothing but the shell's own words, found by the ref they are about:
 * `update/<ref>` says `old new ref` and allows exactly that one move, `worktree/<ref>` says which worktree's git
 * directory, relative to the common one, a task's branch may be moved from, `unlock/<ref>` says until which second a
 * human opened a protected branch, and by which record.
 */
const grantsDir = (commonDir: string) => join(commonDir, "pawl", "grants");
const updateFile = (commonDir: string, ref: string) => join(grantsDir(commonDir), "update", ref);
const worktreeFile = (commonDir: string, ref: string) => join(grantsDir(commonDir), "worktree", ref);
const unlockFile = (commonDir: string, ref: string) => join(grantsDir(commonDir), "unlock", ref);

export interface RefMove {
  ref: string;
  old: string;
  new: string;
}

export function grantMove(commonDir: string, move: RefMove): void {
  replaceFile(updateFile(commonDir, move.ref), `${move.old} ${move.new} ${move.ref}\n`);
}

export function withdrawMove(commonDir: string, ref: string): void {
  rmSync(updateFile(commonDir, ref), { force: true });
}

/** `gitDir` is `worktrees/<id>` for a linked worktree and `.` for the main one. */
export function bindBranch(commonDir: string, ref: string, gitDir: string): void {
  replaceFile(worktreeFile(commonDir, ref), `${gitDir}\n`);
}

export function unbindBranch(commonDir: string, ref: string): void {
  rmSync(worktreeFile(commonDir, ref), { force: true });
}

/** `until` is in seconds since 1970, which is what a shell can compare. */
export function unlockBranch(commonDir: string, ref: string, until: number, record: string): void {
  replaceFile(unlockFile(commonDir, ref), `${until} ${record.replace(/\s+/g, " ")}\n`);
}

/** Closes a branch again; an unlock of another record stays. Empty folders go too: what is there means something is open. */
export function lockBranch(commonDir: string, ref: string, record: string): void {
  const file = unlockFile(commonDir, ref);
  if (lineIfReadable(file)?.split(" ")[1] !== record) return;
  rmSync(file, { force: true });
  const top = join(grantsDir(commonDir), "unlock");
  for (let folder = dirname(file); folder.startsWith(top); folder = dirname(folder))
    if (!removeIfEmpty(folder)) return;
}
