import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { removeIfEmpty, replaceFile } from "../files/durable.ts";
import { lineIfReadable } from "../files/read.ts";
import { grantFile, grantsFolder, unlockIn } from "./guard-files.ts";

export interface RefMove {
  ref: string;
  old: string;
  new: string;
}

export function grantMove(commonDir: string, move: RefMove): void {
  replaceFile(grantFile(commonDir, "update", move.ref), `${move.old} ${move.new} ${move.ref}\n`);
}

export function withdrawMove(commonDir: string, ref: string): void {
  rmSync(grantFile(commonDir, "update", ref), { force: true });
}

/** `gitDir` is `worktrees/<id>` for a linked worktree and `.` for the main one. */
export function bindBranch(commonDir: string, ref: string, gitDir: string): void {
  replaceFile(grantFile(commonDir, "worktree", ref), `${gitDir}\n`);
}

export function unbindBranch(commonDir: string, ref: string): void {
  rmSync(grantFile(commonDir, "worktree", ref), { force: true });
}

/** `until` is in seconds since 1970, which is what a shell can compare. */
export function unlockBranch(commonDir: string, ref: string, until: number, record: string): void {
  replaceFile(grantFile(commonDir, "unlock", ref), `${until} ${record.replace(/\s+/g, " ")}\n`);
}

/** Closes a branch again; an unlock of another record stays. Empty folders go too: what is there means something is open. */
export function lockBranch(commonDir: string, ref: string, record: string): void {
  const file = grantFile(commonDir, "unlock", ref);
  if (unlockIn(lineIfReadable(file) ?? "").record !== record) return;
  rmSync(file, { force: true });
  const top = grantsFolder(commonDir, "unlock");
  for (let folder = dirname(file); folder.startsWith(top); folder = dirname(folder))
    if (!removeIfEmpty(folder)) return;
}
