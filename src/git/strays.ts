import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { namesIfReadable, textIfReadable } from "../files/read.ts";
import { sessionFile } from "../model/naming.ts";

/* Which files of the main checkout agents' sessions were seen to change: a note per session, written by their hooks. */

const folderOf = (commonDir: string) => join(commonDir, "pawl", "strays");

export function noteStrays(commonDir: string, session: string, files: readonly string[]): void {
  mkdirSync(folderOf(commonDir), { recursive: true });
  const file = join(folderOf(commonDir), sessionFile(session));
  const known = pathsIn(file);
  const all = [...new Set([...known, ...files])];
  if (all.length > known.length) writeFileSync(file, all.map((path) => `${JSON.stringify(path)}\n`).join(""));
}

export const notedBy = (commonDir: string, session: string) =>
  pathsIn(join(folderOf(commonDir), sessionFile(session)));

/** Every file that was noted; whether it still differs from the commit is for git to say. */
export function notedStrays(commonDir: string): string[] {
  const folder = folderOf(commonDir);
  return [...new Set(namesIfReadable(folder).flatMap((name) => pathsIn(join(folder, name))))];
}

/** Nothing is astray any more. */
export const forgetStrays = (commonDir: string) =>
  rmSync(folderOf(commonDir), { recursive: true, force: true });

function pathsIn(file: string): string[] {
  return (textIfReadable(file) ?? "").split("\n").flatMap((line) => {
    try {
      const path: unknown = JSON.parse(line);
      return typeof path === "string" ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** What git says of a main checkout, from one listing. */
export function readStatus(out: string): { files: string[]; tracked: string[]; others: string[] } {
  const entries = out.split("\0").filter((entry) => entry.length > 3);
  const isFile = (entry: string) => !entry.endsWith("/");
  const paths = (some: readonly string[]) => some.map((entry) => entry.slice(3));
  return {
    files: paths(entries.filter(isFile)),
    tracked: paths(entries.filter((entry) => isFile(entry) && !entry.startsWith("??"))),
    others: paths(entries.filter((entry) => !isFile(entry))),
  };
}

export const STATUS = [
  ...["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"],
  "--ignore-submodules=all",
];
