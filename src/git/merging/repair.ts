import {
  copyFileSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder, removeIfEmpty } from "../../files/durable.ts";
import { bytesIfReadable } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { step } from "../../model/steps.ts";
import { isBlob } from "../blobs.ts";
import { type Checkout, Git } from "../run-git.ts";
import { type ChangedPath, isSubmodule } from "./changed-paths.ts";
import { hashFiles, holds, isCutOff, lookAt, type Present } from "./file-states.ts";

export interface Repair {
  checkout: Checkout;
  changed: readonly ChangedPath[];
  side: "old" | "new";
  /** The commit whose files are wanted. */
  commit: string;
  /** An index for this moment only. */
  scratchIndex: string;
  /** Where a copy of what we did not write is kept. */
  rescueFolder: string;
}

/** Somebody else's git may be finishing the very same files; a second look finds them finished. */
const ROUNDS = 3;

/**
 * Makes the files of one side out of whatever a killed git left, path by path and only at paths that the move
 * touches. Those were clean when it began, so a file that is one side's, or the beginning of it, is git's work. Any
 * other was changed by the user since: it stays, a copy is kept, and its path is answered.
 */
export async function repairFiles(env: Environment, repair: Repair): Promise<string[]> {
  const files = repair.changed.filter((one) => !isSubmodule(one.old) && !isSubmodule(one.new));
  const kept = new Set<string>();
  // How content is converted is said by files of the same kind, so those come first.
  const rules = files.filter((one) => /(?:^|\/)\.gitattributes$/.test(one.path));
  for (const group of [rules, files.filter((one) => !rules.includes(one))])
    for (let round = 0; ; round++) {
      const { wrong, foreign } = await examine(env, repair, group, round === 0);
      for (const path of foreign) kept.add(path);
      if (round === ROUNDS) for (const { path } of wrong) kept.add(path);
      if (wrong.length === 0 || round === ROUNDS) break;
      step("merge-repair");
      await putRight(env, repair, wrong);
    }
  for (const path of kept) rescue(repair, path);
  return [...kept].sort();
}

interface Examined {
  wrong: ChangedPath[];
  foreign: string[];
}

async function examine(
  env: Environment,
  { checkout, side }: Repair,
  group: readonly ChangedPath[],
  /** Some file systems cannot say what is executable, so that is put right once and not insisted on. */
  withMode: boolean,
): Promise<Examined> {
  const git = Git.on("quiet", env, checkout);
  const look = lookAt(checkout.root);
  const seen = group.map((change) => ({ change, present: look(change.path) }));
  const files = seen.filter(({ present }) => present.kind === "file").map(({ change }) => change.path);
  const hashes = files.length === 0 ? new Map<string, string>() : await hashFiles(git, files);
  const result: Examined = { wrong: [], foreign: [] };
  for (const { change, present } of seen) {
    const hash = hashes.get(change.path);
    const fits = !withMode || modeFits(change[side]?.mode, present);
    if (holds(change[side], present, hash) && fits) continue;
    if (await isOurs(git, checkout.root, change, present, hash)) result.wrong.push(change);
    else result.foreign.push(change.path);
  }
  return result;
}

const modeFits = (mode: string | undefined, present: Present) =>
  present.kind !== "file" || present.executable === (mode === "100755");

async function isOurs(
  git: Git,
  root: string,
  change: ChangedPath,
  present: Present,
  hash: string | undefined,
): Promise<boolean> {
  if (present.kind === "nothing" || present.kind === "blocked" || present.kind === "folder") return true;
  if ([change.old, change.new].some((entry) => entry && holds(entry, present, hash))) return true;
  if (present.kind === "link") return false;
  const bytes = bytesIfReadable(join(root, change.path));
  // The rules for converting may have changed with the move itself, so that content counts unconverted too.
  if ([change.old, change.new].some((entry) => entry && bytes && isBlob(entry.oid, bytes))) return true;
  return isCutOff(git, root, change);
}

/** First what has to go, then what has to come: a folder may have to make room for a file, and a file for a folder. */
async function putRight(env: Environment, repair: Repair, wrong: readonly ChangedPath[]): Promise<void> {
  const { checkout, side, commit, scratchIndex } = repair;
  for (const { path } of wrong.filter((one) => !one[side])) removeFile(checkout.root, path);
  const look = lookAt(checkout.root);
  const missing = wrong.filter((one) => one[side]).map((one) => one.path);
  for (const path of missing) if (look(path).kind === "folder") removeIfEmpty(join(checkout.root, path));
  const fresh = lookAt(checkout.root);
  // A folder with the user's files in it is not ours to empty; git would.
  const free = missing.filter((path) => !["folder", "blocked"].includes(fresh(path).kind));
  if (free.length === 0) return;
  rmSync(`${scratchIndex}.lock`, { force: true });
  const git = Git.on("quiet", env, checkout).withIndex(scratchIndex);
  try {
    await git.expect("The files could not be restored", ["read-tree", commit]);
    await git.ask(["checkout-index", "-f", "-q", "-z", "--stdin"], free.map((path) => `${path}\0`).join(""));
  } finally {
    rmSync(scratchIndex, { force: true });
  }
}

function removeFile(root: string, path: string): void {
  const { kind } = lookAt(root)(path);
  if (kind !== "file" && kind !== "link") return;
  unlinkSync(join(root, path));
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
    if (!removeIfEmpty(join(root, folder))) return;
}

function rescue({ checkout, rescueFolder }: Repair, path: string): void {
  const from = join(checkout.root, path);
  const { kind } = lookAt(checkout.root)(path);
  if (kind !== "file" && kind !== "link") return;
  for (let number = 1; ; number++) {
    const to = join(rescueFolder, number === 1 ? path : `${path}.${number}`);
    if (existsSync(to)) {
      if (kind === "file" && readFileSync(to).equals(readFileSync(from))) return;
      continue;
    }
    step("merge-rescue");
    makeFolder(dirname(to));
    if (kind === "link") symlinkSync(readlinkSync(from), to);
    else copyFileSync(from, to);
    return;
  }
}
