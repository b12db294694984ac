import { join } from "node:path";
import { namesIfPresent, textIfPresent } from "../../files/read.ts";
import type { LoggedMove } from "../../ports/audits.ts";

/** The log of a branch from git's own file, oldest first: git's commands leave out what does not fit together. */
export function readLog(commonDir: string, ref: string): LoggedMove[] | undefined {
  const text = textIfPresent(join(commonDir, "logs", ref));
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
  return namesIfPresent(folder).flatMap((name) => {
    const [was, ref, allowed] = (textIfPresent(join(folder, name)) ?? "").trim().split(" ");
    return was && ref ? [{ ref, was, allowed: allowed ?? was }] : [];
  });
}

/** `old new ref why`: what the guard let pass. */
export function readCreated(commonDir: string): { ref: string; commit: string }[] {
  return (textIfPresent(join(commonDir, "pawl", "moves")) ?? "").split("\n").flatMap((line) => {
    const [, fresh, ref, why] = line.split(" ");
    return fresh && ref && why === "created" ? [{ ref, commit: fresh }] : [];
  });
}
