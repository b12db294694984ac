import {
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Gives a worktree a file of another one. It appears whole, so that a copy which was interrupted is never taken for the file. */
export function copyWhole(from: string, root: string, path: string, scratch: string): boolean {
  const waiting = join(scratch, "file");
  try {
    const to = join(root, path);
    if (!makeFolders(root, dirname(path))) return false;
    const stat = lstatSync(from);
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (stat.isFile()) {
      mkdirSync(scratch, { recursive: true });
      copyFileSync(from, waiting, constants.COPYFILE_FICLONE);
      linkSync(waiting, to);
      rmSync(waiting);
    } else return false;
    return true;
  } catch (error) {
    rmSync(waiting, { force: true });
    return (error as NodeJS.ErrnoException).code === "EEXIST";
  }
}

/** Folders are made one by one: a link among them would lead out of the worktree. */
function makeFolders(root: string, path: string): boolean {
  if (path === ".") return true;
  if (!makeFolders(root, dirname(path))) return false;
  const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (!stat) mkdirSync(join(root, path));
  return stat?.isDirectory() ?? true;
}
