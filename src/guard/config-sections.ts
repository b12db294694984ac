import { chmodSync, linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory, writeDurably } from "../files/durable.ts";
import { Failure } from "../model/failure.ts";
import { step } from "../model/steps.ts";

/** The settings that the sections bring in, beside the repository's own config. */
export const SETTINGS = "pawl/hooks.config";

const OURS = /^\[includeIf "gitdir:[^\n]*"\]\n\tpath = pawl\/hooks\.config\n/gm;

/**
 * Two sections, because the one with the slash is for the worktrees below and the other for the repository itself.
 * Being conditions on the place, they fall silent in a moved or copied repository, which has its own guard beside git's
 * own hooks.
 */
export function sections(commonDir: string): string {
  const place = pattern(commonDir);
  return [place, `${place}/`].map((one) => `[includeIf "gitdir:${one}"]\n\tpath = ${SETTINGS}\n`).join("");
}

/** Once for the pattern, in which some letters stand for others, and once for git's quotes. */
const pattern = (path: string) =>
  path
    .replaceAll("\\", "/")
    .replace(/[*?[\]\\]/g, "\\$&")
    .replace(/["\\]/g, "\\$&");

export function hasSections(config: string, commonDir: string): boolean {
  return config.includes(sections(commonDir));
}

/** The config with our sections at its end, where they win over anything that was said before. */
export function withSections(config: string, commonDir: string): string {
  const rest = withoutSections(config, false);
  return `${rest}${rest === "" || rest.endsWith("\n") ? "" : "\n"}${sections(commonDir)}`;
}

/** `brokenLine` is true when the last line had no end before we came, and nobody has written after us. */
export function withoutSections(config: string, brokenLine: boolean): string {
  const rest = config.replace(OURS, "");
  const wereLast = config !== rest && config.startsWith(rest);
  return brokenLine && wereLast && rest.endsWith("\n") ? rest.slice(0, -1) : rest;
}

const PATIENCE_MS = 2_000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const claimOf = (commonDir: string) => join(commonDir, "pawl", "config.claim");
const configOf = (commonDir: string) => realpathSync(join(commonDir, "config"));

/**
 * Changes the config under git's own lock; whoever calls this holds the guard's. Git's lock is taken as a second name of
 * a file of ours, so that one which a kill left behind is recognised, and one of git's is never taken away.
 */
export function editConfig(commonDir: string, edit: (text: string) => string): boolean {
  const [path, claim] = [configOf(commonDir), claimOf(commonDir)];
  const planned = readFileSync(path, "utf8");
  if (edit(planned) === planned) return false;
  step("guard config lock");
  writeDurably(claim, "");
  try {
    takeLock(claim, path);
    // Whoever held the lock before may have changed something.
    const before = readFileSync(path, "utf8");
    const after = edit(before);
    if (after !== before) replaceConfig(path, after);
    step("guard config unlock");
    return after !== before;
  } finally {
    dropLeftovers(commonDir);
  }
}

/** What an edit leaves behind, whether it ended or was killed. */
export function dropLeftovers(commonDir: string): void {
  const [path, claim] = [configOf(commonDir), claimOf(commonDir)];
  const own = statSync(claim, { throwIfNoEntry: false })?.ino;
  if (own === undefined) return;
  rmSync(`${path}.pawl-new`, { force: true });
  if (statSync(`${path}.lock`, { throwIfNoEntry: false })?.ino === own)
    rmSync(`${path}.lock`, { force: true });
  rmSync(claim, { force: true });
}

function takeLock(claim: string, path: string): void {
  for (const deadline = Date.now() + PATIENCE_MS; ; Atomics.wait(sleeper, 0, 0, 20)) {
    try {
      linkSync(claim, `${path}.lock`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (Date.now() < deadline) continue;
    throw new Failure("conflict", "config_locked", `Another program is writing ${path}.`, {
      hint: "Let it finish and run this again. If none is running, a killed git left the file config.lock there.",
      details: { file: `${path}.lock` },
    });
  }
}

function replaceConfig(path: string, text: string): void {
  const temporary = `${path}.pawl-new`;
  step("guard config write");
  rmSync(temporary, { force: true });
  writeDurably(temporary, text);
  chmodSync(temporary, statSync(path).mode);
  step("guard config");
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}
