import { join } from "node:path";
import { namesIfPresent, textIfPresent } from "../../files/read.ts";
import type { LoggedMove } from "../../ports/audits.ts";
import { logOf } from "../refs.ts";

/** The log of a branch, oldest first. */
export function readLog(commonDir: string, ref: string): LoggedMove[] | undefined {
  return logOf(commonDir, ref)?.map((one) => ({ ...one, time: new Date(one.time * 1000).toISOString() }));
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
