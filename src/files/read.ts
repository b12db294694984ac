import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { Failure } from "../model/failure.ts";

/*
 * Two ways to read what may not be there, and the name says which. `…IfPresent`: what is absent is nothing, and whatever
 * else goes wrong is thrown, because something may depend on it. `…IfReadable`: whatever cannot be read is nothing.
 * Most of what is asked for is absent most of the time, and an error costs more than a look; so both look first.
 */

/** The text of a file; undefined where there is no file. */
export const textIfPresent = (path: string) => ifPresent(path, text);

export const bytesIfPresent = (path: string): Buffer | undefined => ifPresent(path, bytes);

/** The text of a file, and the encoding that makes the same bytes of it. */
export interface AnyText {
  text: string;
  encoding: "utf8" | "latin1";
}

/**
 * A file that people write in whatever encoding, to be written again. What is not UTF-8 is read as if each byte were a
 * character, so that none of them is lost. Without a file it is empty.
 */
export function anyText(path: string): AnyText {
  const content = bytesIfPresent(path) ?? Buffer.alloc(0);
  const encoding = content.equals(Buffer.from(content.toString("utf8"))) ? "utf8" : "latin1";
  return { text: content.toString(encoding), encoding };
}

/** The bytes of a file that has to be there. */
export const bytesOf = (path: string): Buffer => bytes(path, statSync(path));

/** What a folder holds; nothing where there is no folder. */
export const namesIfPresent = (folder: string): string[] => ifPresent(folder, names) ?? [];

/** Everything below a folder, by its path from there, with slashes on every system; nothing where there is no folder. */
export const pathsIfPresent = (folder: string): string[] => ifPresent(folder, paths) ?? [];

export const statIfPresent = (path: string): Stats | undefined => ifPresent(path, (_, stat) => stat);

export const textIfReadable = (path: string) => ifReadable(path, text);

/** The text of a file of one line, such as git's own. */
export const lineIfReadable = (path: string) => ifReadable(path, text)?.trim() || undefined;

export const bytesIfReadable = (path: string): Buffer | undefined => ifReadable(path, bytes);

/** What a file of our own says; one that was cut off says nothing. */
export const jsonIfReadable = <T>(path: string) =>
  ifReadable(path, (_, stat) => JSON.parse(text(path, stat)) as T | undefined);

export const namesIfReadable = (folder: string): string[] => ifReadable(folder, names) ?? [];

/** Where a link leads. */
export function linkIfReadable(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** A path without symbolic links; where there is nothing, the path itself. */
export function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** The same as git writes it: the last parts may not exist yet, and the others are without symbolic links all the same. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}

export const isFile = (path: string) => ifReadable(path, (_, stat) => stat.isFile()) === true;

/** Something is there, be it a link that leads nowhere just now. */
export const occupied = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

export const isFolder = (path: string) => statIfPresent(path)?.isDirectory() === true;

/** What a file that only grows has from one byte to another. */
export function textBetween(path: string, from: number, to: number): string {
  const fd = openSync(path, "r");
  try {
    const part = Buffer.alloc(to - from);
    return part.subarray(0, readSync(fd, part, 0, part.length, from)).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

const text = (path: string, stat: Stats): string => readFileSync(regular(path, stat), "utf8");
const bytes = (path: string, stat: Stats): Buffer => readFileSync(regular(path, stat));

/**
 * Whoever puts a pipe or a device where a file belongs lets us wait for ever, or read for ever. Nothing is read from it, and
 * whoever asks is told. A folder is left to the system, which says so at once; the null device is an empty file everywhere.
 */
function regular(path: string, stat: Stats): string {
  if (stat.isFile() || stat.isDirectory()) return path;
  if (stat.isCharacterDevice() && stat.rdev === nullDevice()) return path;
  const what = stat.isFIFO() ? "a pipe" : stat.isSocket() ? "a socket" : "a device";
  throw new Failure("unreadable", NOT_A_FILE, `${path} is ${what}, but it should be a file.`, {
    hint: "Nothing was read from it. Find out who put it there and remove it; then let pawl write it again: pawl doctor --fix",
    details: { file: path },
  });
}

/** Its name everywhere but on Windows, where git understands it, too; `node:os` has one, and costs half a millisecond to load. */
export const NULL_DEVICE = "/dev/null";

/** Which device that is; none on Windows. */
export const nullDevice = () => statSync(NULL_DEVICE, { throwIfNoEntry: false })?.rdev;

const NOT_A_FILE = "not_a_file";
const names = (folder: string): string[] => readdirSync(folder);
const paths = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.split(sep).join("/"));

function ifPresent<T>(path: string, read: (path: string, stat: Stats) => T): T | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && read(path, stat);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file where a folder is meant, or the other way round, is not what was asked for, so that is absent.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
}

function ifReadable<T>(path: string, read: (path: string, stat: Stats) => T): T | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && read(path, stat);
  } catch (error) {
    if (error instanceof Failure && error.code === NOT_A_FILE) throw error;
    return undefined;
  }
}
