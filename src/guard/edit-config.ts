import { chmodSync, existsSync, linkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory, writeDurably } from "../files/durable.ts";
import { pauseSync } from "../files/pause.ts";
import { type AnyText, anyText, textIfPresent } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import { step } from "../model/steps.ts";

const PATIENCE_MS = 2_000;

const claimOf = (commonDir: string) => join(commonDir, "pawl", "config.claim");
export const configOf = (commonDir: string) => join(commonDir, "config");
const target = (path: string) => (existsSync(path) ? realpathSync(path) : path);

/** The text that a file of git's configuration should have. */
export type Edit = (file: AnyText) => string;

/**
 * Changes a file of git's configuration under git's own lock; whoever calls this holds the guard's. Git's lock is taken as
 * a second name of a file of ours, so that one which a kill left behind is recognised, and one of git's is never taken
 * away. A file that says nothing any more goes.
 */
export function editConfig(commonDir: string, file: string, edit: Edit): boolean {
  const [path, claim] = [target(file), claimOf(commonDir)];
  const planned = anyText(path);
  if (edit(planned) === planned.text) return false;
  step("guard config lock");
  writeDurably(claim, path);
  try {
    takeLock(claim, path);
    // Whoever held the lock before may have changed something.
    const before = anyText(path);
    const after = edit(before);
    const isOther = after !== before.text;
    if (isOther) replaceConfig(commonDir, path, Buffer.from(after, before.encoding));
    step("guard config unlock");
    return isOther;
  } finally {
    dropLeftovers(commonDir);
  }
}

/** What an edit leaves behind, whether it ended or was killed. */
export function dropLeftovers(commonDir: string): void {
  const claim = claimOf(commonDir);
  const own = statSync(claim, { throwIfNoEntry: false })?.ino;
  if (own === undefined) return;
  const path = textIfPresent(claim) || target(configOf(commonDir));
  rmSync(`${path}.pawl-new`, { force: true });
  if (statSync(`${path}.lock`, { throwIfNoEntry: false })?.ino === own)
    rmSync(`${path}.lock`, { force: true });
  rmSync(claim, { force: true });
}

function takeLock(claim: string, path: string): void {
  for (const deadline = Date.now() + PATIENCE_MS; ; pauseSync(20)) {
    try {
      linkSync(claim, `${path}.lock`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (Date.now() < deadline) continue;
    throw new Failure("conflict", "config_locked", `Another program is writing ${path}.`, {
      hint: `Let it finish and run this again. If none is running, a killed git left this file: ${path}.lock`,
      details: { file: `${path}.lock` },
    });
  }
}

function replaceConfig(commonDir: string, path: string, content: Buffer): void {
  const temporary = `${path}.pawl-new`;
  step("guard config write");
  rmSync(temporary, { force: true });
  if (content.length === 0) rmSync(path);
  else {
    writeDurably(temporary, content);
    chmodSync(temporary, statSync(existsSync(path) ? path : configOf(commonDir)).mode);
    step("guard config");
    renameSync(temporary, path);
  }
  syncDirectory(dirname(path));
}
