import { statSync } from "node:fs";
import { join } from "node:path";
import { statIfPresent } from "../../files/read.ts";
import type { LoggedMove } from "../../ports/audits.ts";
import { readStamps, tipFile } from "../guard-files.ts";
import { hasTables, logFileOf, logOf } from "../refs.ts";

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
  if (!file?.isFile() || !tip || readStamps(commonDir)?.at !== commonDir) return false;
  if (file.mtimeMs > tip.mtimeMs + SLACK_MS) return true;
  return file.ctimeMs > tip.ctimeMs + SLACK_MS && tip.ctimeMs < tip.mtimeMs + SLACK_MS;
}
