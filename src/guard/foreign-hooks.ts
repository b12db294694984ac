import {
  copyFileSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { makeFolder, syncFile } from "../files/durable.ts";
import { occupied, textIfReadable } from "../files/read.ts";
import { hooksDir } from "../git/guard-files.ts";
import { step } from "../model/steps.ts";

/** Nobody sees half of it: a link goes on leading where it led, and the folders may lie on two disks. */
export function moveHook(from: string, to: string): void {
  makeFolder(dirname(to));
  const fresh = `${to}.pawl-new`;
  rmSync(fresh, { force: true });
  if (lstatSync(from).isSymbolicLink()) symlinkSync(asSeenFrom(dirname(to), from), fresh);
  else {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    }
    copyFileSync(from, fresh);
    syncFile(fresh);
  }
  renameSync(fresh, to);
  unlinkSync(from);
}

function asSeenFrom(folder: string, link: string): string {
  const target = readlinkSync(link);
  if (isAbsolute(target)) return target;
  return relative(realpathSync(folder), resolve(realpathSync(dirname(link)), target));
}

/**
 * Takes what another tool put into our folder out of it, where the user has a hook of that name: beside git's own hooks,
 * under a name that git does not run. Says so.
 */
export function setAside(commonDir: string, name: string, theirs: string): string {
  const from = join(hooksDir(commonDir), name);
  const text = textIfReadable(from);
  const nth = (number: number) =>
    join(commonDir, "hooks", `${name}.set-aside${number > 1 ? `-${number}` : ""}`);
  let number = 1;
  while (occupied(nth(number)) && (text === undefined || textIfReadable(nth(number)) !== text)) number++;
  step(`guard set aside ${name}`);
  moveHook(from, nth(number));
  return `Another tool wrote ${from}, and ${theirs} exists already: the tool's is ${nth(number)} now, which git does not run.`;
}
