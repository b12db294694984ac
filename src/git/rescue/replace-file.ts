import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { step } from "../../model/steps.ts";
import { type ChangedPath, type Entry, LINK } from "../merging/changed-paths.ts";
import { hashFiles, holds, lookAt, type Present } from "../merging/file-states.ts";
import type { Checkout, Git } from "../run-git.ts";

const EXECUTABLE = "100755";

export type Replaced =
  | { how: "done" }
  /** Somebody wrote there meanwhile, so it was left alone. */
  | { how: "left" }
  /** Somebody wrote into the very file that was being replaced; what they wrote is here. */
  | { how: "kept"; at: string };

/**
 * Puts what a tree has at a path in place of what another tree has there. There is no moment at which the path has
 * neither, and the replaced file is kept aside until it is known to be what was saved.
 */
export async function replaceFile(git: Git, checkout: Checkout, change: ChangedPath): Promise<Replaced> {
  const { root } = checkout;
  const { path, old, new: wanted } = change;
  const [present, hash] = await lookClosely(git, root, path);
  if (holds(wanted, present, hash)) {
    if (wanted && present.kind === "file") chmodSync(join(root, path), modeOf(wanted));
    return { how: "done" };
  }
  if (!holds(old, present, hash)) return { how: "left" };
  const folder = join(checkout.gitDir, "pawl-rescue");
  mkdirSync(folder, { recursive: true });
  const file = join(root, path);
  const name = `${basename(path).slice(0, 60)}-${process.pid}`;
  const aside = old === undefined ? undefined : keepAside(file, join(folder, `${name}.old`));
  if (wanted === undefined) {
    step("rescue remove file");
    rmSync(file);
    removeEmptyFolders(root, path);
  } else {
    const fresh = join(folder, `${name}.new`);
    rmSync(fresh, { force: true });
    await writeEntry(git, wanted, path, fresh);
    mkdirSync(dirname(file), { recursive: true });
    step("rescue write file");
    moveOver(fresh, file);
  }
  if (aside === undefined || (await isSame(git, aside, path, old))) {
    if (aside) rmSync(aside, { force: true });
    return { how: "done" };
  }
  return { how: "kept", at: aside };
}

async function lookClosely(git: Git, root: string, path: string): Promise<[Present, string | undefined]> {
  const present = lookAt(root)(path);
  const hash = present.kind === "file" ? (await hashFiles(git, [path])).get(path) : undefined;
  return [present, hash];
}

/** A second name of the same file: what is written into it later is seen there too. */
function keepAside(file: string, aside: string): string {
  rmSync(aside, { force: true });
  try {
    linkSync(file, aside);
  } catch {
    // Another disk, or one without links: a copy of this moment has to do.
    copyFileSync(file, aside);
  }
  return aside;
}

async function writeEntry(git: Git, entry: Entry, path: string, to: string): Promise<void> {
  const args =
    entry.mode === LINK
      ? ["cat-file", "blob", entry.oid]
      : ["cat-file", "--filters", `--path=${path}`, entry.oid];
  const { code, out, err } = await git.askBytes(args);
  if (code !== 0) throw new Error(`git could not read ${path}: ${err}`);
  if (entry.mode === LINK) symlinkSync(out, to);
  else writeFileSync(to, out, { mode: modeOf(entry), flush: true });
}

const modeOf = ({ mode }: Entry) => (mode === EXECUTABLE ? 0o755 : 0o644);

function moveOver(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    const beside = join(dirname(to), `.${basename(to).slice(0, 60)}.pawl-rescue`);
    copyFileSync(from, beside);
    renameSync(beside, to);
    rmSync(from, { force: true });
  }
}

async function isSame(git: Git, aside: string, path: string, old: Entry | undefined): Promise<boolean> {
  // A link cannot be written into; it was looked at a moment ago.
  if (old === undefined || old.mode === LINK) return true;
  return (await git.line(["hash-object", `--path=${path}`, "--", aside])) === old.oid;
}

/** As git does when the last file of a folder goes. */
function removeEmptyFolders(root: string, path: string): void {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch {
      return;
    }
  }
}
