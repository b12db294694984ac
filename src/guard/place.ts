import { chmodSync, existsSync, lstatSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder, writeDurably } from "../files/durable.ts";
import { textIfPresent } from "../files/read.ts";
import { step } from "../model/steps.ts";

/** A file of ours, whole: what it says and whether it can be run. */
export interface OwnFile {
  path: string;
  text: string;
  runs: boolean;
}

export function canRun(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}

export const isInPlace = (file: OwnFile) =>
  textIfPresent(file.path) === file.text && (!file.runs || canRun(file.path)) && !isLink(file.path);

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** Comes into being complete and with its mode: a hook that cannot be run yet would be no hook for a moment. */
export function place(file: OwnFile): boolean {
  if (isInPlace(file)) return false;
  step(`guard ${basename(file.path)}`);
  makeFolder(dirname(file.path));
  const temporary = join(dirname(file.path), `.pawl-${process.pid}`);
  rmSync(temporary, { force: true });
  writeDurably(temporary, file.text);
  if (file.runs) chmodSync(temporary, 0o755);
  renameSync(temporary, file.path);
  return true;
}

export function remove(path: string): boolean {
  if (!existsSync(path) && !isLink(path)) return false;
  step(`guard remove ${basename(path)}`);
  rmSync(path, { recursive: true, force: true });
  return true;
}

/** Every hook that we write says so in its second line, whichever version wrote it. */
export const isOurs = (text: string | undefined) =>
  text?.startsWith("#!/bin/sh\n# Written by pawl: ") === true;
