import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoggedMove } from "../../ports/audits.ts";

/** The log of a branch from git's own file, oldest first: git's commands leave out what does not fit together. */
export function readLog(commonDir: string, ref: string): LoggedMove[] | undefined {
  const text = textOf(join(commonDir, "logs", ref));
  if (text === undefined) return undefined;
  return text.split("\n").flatMap((line) => {
    const match = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*?(\d+) [+-]\d{4}(?:\t(.*))?$/.exec(line);
    if (!match) return [];
    const [, old = "", fresh = "", seconds = "", message = ""] = match;
    return [{ old, new: fresh, message, time: new Date(Number(seconds) * 1000).toISOString() }];
  });
}

/** `value ref allowed`, one file per protected branch, kept by the guard. */
export function readGuardedTips(commonDir: string): { ref: string; was: string; allowed: string }[] {
  const folder = join(commonDir, "pawl", "tips");
  return (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
    const [was, ref, allowed] = (textOf(join(folder, name)) ?? "").trim().split(" ");
    return was && ref ? [{ ref, was, allowed: allowed ?? was }] : [];
  });
}

/** `old new ref why`: what the guard let pass. */
export function readCreated(commonDir: string): { ref: string; commit: string }[] {
  return (textOf(join(commonDir, "pawl", "moves")) ?? "").split("\n").flatMap((line) => {
    const [, fresh, ref, why] = line.split(" ");
    return fresh && ref && why === "created" ? [{ ref, commit: fresh }] : [];
  });
}

export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
}
