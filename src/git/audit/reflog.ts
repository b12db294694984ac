import { statSync } from "node:fs";
import { join } from "node:path";
import { jsonIfReadable, namesIfPresent, statIfPresent, textIfPresent } from "../../files/read.ts";
import type { LoggedMove, PassedMove } from "../../ports/audits.ts";
import { hasTables, logFileOf, logOf } from "../refs.ts";
import { tipFile } from "../tip-files.ts";

/** The clocks of git and of a file system may differ by so much. */
const SLACK_MS = 2000;

/** The log of a branch, oldest first. */
export function readLog(commonDir: string, ref: string): LoggedMove[] | undefined {
  return logOf(commonDir, ref)?.map((one) => ({ ...one, time: new Date(one.time * 1000).toISOString() }));
}

/** Until when git has written into it at least, by the clock of the machine and not by what an entry says. */
export function lastLogged(commonDir: string, ref: string): string | undefined {
  const written = statIfPresent(logFileOf(commonDir, ref));
  return written && new Date(written.ctimeMs - SLACK_MS).toISOString();
}

/** `value ref allowed`, one file per protected branch, kept by the guard. */
export function readGuardedTips(commonDir: string): { ref: string; was: string; allowed: string }[] {
  const folder = join(commonDir, "pawl", "tips");
  return namesIfPresent(folder).flatMap((name) => {
    const [was, ref, allowed] = (textIfPresent(join(folder, name)) ?? "").trim().split(" ");
    return was && ref ? [{ ref, was, allowed: allowed ?? was }] : [];
  });
}

/** `old new ref why`: what the guard let pass, and what came about. */
export function readPassed(commonDir: string): PassedMove[] {
  return (textIfPresent(join(commonDir, "pawl", "moves")) ?? "").split("\n").flatMap((line) => {
    const [old, fresh, ref, why] = line.split(" ");
    return old && fresh && ref && why ? [{ old, new: fresh, ref, why }] : [];
  });
}

/**
 * Whether the file of a branch was written after the guard last noted where the branch is: it may have been away and back,
 * whatever has become of the logs. A copy of a whole repository keeps the times at which files were written; whoever sets
 * those back leaves a later time of change, which in a copy all files have.
 */
export function isRewritten(commonDir: string, ref: string): boolean {
  if (hasTables(commonDir)) return false;
  const [file, tip] = [join(commonDir, ref), tipFile(commonDir, ref)].map((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
  if (
    !file?.isFile() ||
    !tip ||
    jsonIfReadable<{ at?: string }>(join(commonDir, "pawl/stamps"))?.at !== commonDir
  )
    return false;
  if (file.mtimeMs > tip.mtimeMs + SLACK_MS) return true;
  return file.ctimeMs > tip.ctimeMs + SLACK_MS && tip.ctimeMs < tip.mtimeMs + SLACK_MS;
}
