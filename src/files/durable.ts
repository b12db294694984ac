import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DAMAGED, REPAIR } from "../model/damaged-program.ts";
import { Failure } from "../model/failure.ts";

/** Text is written as UTF-8. */
type Content = string | Buffer;

/** Writes a whole file that was not there, and makes sure that it is on the disk before anybody is told its name. */
export function writeDurably(path: string, content: Content, mode?: number): void {
  const data = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  const fd = openSync(path, "wx", mode);
  try {
    for (let done = 0; done < data.length; ) done += writeSync(fd, data, done);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  closeSync(fd);
}

/** Gives a finished file a second name once its bytes are safe; whoever made it may then remove the first one. */
export function linkDurably(from: string, to: string): void {
  syncFile(from);
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** Waits until the bytes of a file are on the disk. */
export function syncFile(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Node's own recursive mkdir says ENOENT where the file system is read-only (nodejs/node#47098). */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Only ever an empty folder: anything in it makes the system refuse. False where it is still there, or never was. */
export function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** A rename is only durable once its directory is; Windows has no such call and needs none. */
export function syncDirectory(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(fd);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EPERM" && code !== "EISDIR" && code !== "EINVAL" && code !== "ENOTSUP") throw error;
  } finally {
    closeSync(fd);
  }
}

let sequence = 0;

/** Replaces a file of our own (never a record) so that a reader sees the old or the new one, whole. */
export function replaceFile(path: string, content: Content): void {
  replaceBy(writeDurably, path, content);
  syncDirectory(dirname(path));
}

/** The same for what can be made again at any time: nobody waits for the disk. */
export const replaceQuickly = (path: string, content: Content) => replaceBy(writeFileSync, path, content);

function replaceBy(write: (path: string, content: Content) => void, path: string, content: Content): void {
  makeFolder(dirname(path));
  const temporary = join(dirname(path), `.tmp-${process.pid}-${++sequence}`);
  rmSync(temporary, { force: true });
  write(temporary, content);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** What the file system refuses, said in words; anything else is passed on as it is. */
export function explainFileError(error: unknown, what: string): unknown {
  const { code, path: from, dest: path = from } = error as NodeJS.ErrnoException & { dest?: string };
  const at = path ? ` (${path})` : "";
  const cause = { cause: error, details: { file: path, errno: code } };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new Failure("unavailable", "disk_full", `${what}: the disk is full${at}.`, {
        ...cause,
        hint: "Nothing was lost. Free some space and run the command again.",
      });
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return new Failure("unavailable", "state_read_only", `${what}: no permission${at}.`, {
        ...cause,
        hint: "Nothing was changed. Make sure you can read and write there, then run the command again.",
      });
    case "EXDEV":
    case "EIO":
    case "EMFILE":
    case "ENFILE":
    case "ENAMETOOLONG":
      return new Failure("unavailable", "state_unavailable", `${what}: the system says ${code}${at}.`, cause);
    case "ENOTDIR":
    case "EEXIST":
    case "ELOOP":
      return new Failure("unavailable", "state_misplaced", `${what}: a folder is expected${at}.`, {
        ...cause,
        hint: "Something else is where pawl needs a folder; move it away.",
      });
    case "EISDIR":
    case "ENOTEMPTY":
      return new Failure("unavailable", "state_misplaced", `${what}: a file is expected${at}.`, {
        ...cause,
        hint: "A folder is where pawl needs a file; move it away.",
      });
    case DAMAGED:
      return new Failure("unavailable", "program_damaged", (error as Error).message, {
        cause: error,
        hint: REPAIR,
      });
    default:
      return error;
  }
}
