import { existsSync } from "node:fs";
import {
  isFile,
  jsonIfReadable,
  lineIfReadable,
  namesIfPresent,
  namesIfReadable,
  pathsIfPresent,
  textIfPresent,
} from "../files/read.ts";
import { branchOfRef, refOfBranch } from "../model/naming.ts";
import type { PassedMove } from "../ports/audits.ts";

/*
 * What the guard keeps in `<git common dir>/pawl/`. The hooks are shell scripts and know these files by themselves; of our
 * own modules only this one knows where each lies and what its lines say. Every read command looks at some of them, so that
 * nothing but the file system is loaded here: grants are written by grants.ts, all else by the guard.
 */
const ours = (commonDir: string, ...names: readonly string[]) => [commonDir, "pawl", ...names].join("/");

/** What was there before the guard was; without it there is no guard. */
export const beforeFile = (commonDir: string) => ours(commonDir, "before");
export const isGuarded = (commonDir: string) => existsSync(beforeFile(commonDir));

/** The hooks that git is told to use. */
export const hooksDir = (commonDir: string) => ours(commonDir, "hooks");

/** How everything was left when the guard was last put in place. */
export interface Stamps {
  /** The common git directory: in a moved or copied repository only the copies of the guard in git's own folders hold. */
  at: string;
  /** By paths relative to the common git directory. */
  config: Record<string, string>;
  /** Each worktree has a setting of its own; not known where a version before 0.2 wrote this. */
  per_worktree?: boolean;
  hooks: Record<string, string>;
  inputs: Record<string, string>;
}

export const stampsFile = (commonDir: string) => ours(commonDir, "stamps");
export const readStamps = (commonDir: string) => jsonIfReadable<Stamps>(stampsFile(commonDir));

export const tipsFolder = (commonDir: string) => ours(commonDir, "tips");

/**
 * Where the guard keeps what it last saw a protected branch at. Slashes make folders, and the guard can make none without
 * starting a program; no ref may have a tilde.
 */
export const tipFile = (commonDir: string, ref: string) =>
  `${tipsFolder(commonDir)}/${branchOfRef(ref).replaceAll("/", "~")}`;

export const readGuardedTips = (commonDir: string) =>
  namesIfPresent(tipsFolder(commonDir)).flatMap(
    (name) => guardedTip(`${tipsFolder(commonDir)}/${name}`) ?? [],
  );

/** `value ref allowed`: where the branch was, and where it may be as well, because the guard let it go there. */
export function guardedTip(path: string) {
  const [was, ref, allowed] = (textIfPresent(path) ?? "").trim().split(" ");
  return was && ref ? { ref, was, allowed: allowed || was } : undefined;
}

export const trippedFolder = (commonDir: string) => ours(commonDir, "tripped");

/** Protected branches that moved while the guard was switched off: `found known ref`, where each was found and last seen. */
export const readTripped = (commonDir: string) =>
  namesIfPresent(trippedFolder(commonDir)).flatMap((name) => {
    const path = `${trippedFolder(commonDir)}/${name}`;
    const [found, known, ref] = (textIfPresent(path) ?? "").trim().split(" ");
    return found && known && ref ? [{ ref, found, known }] : [];
  });

const moves = (commonDir: string) => textIfPresent(ours(commonDir, "moves")) ?? "";

/** What the guard let pass, and what came about. */
export const readPassed = (commonDir: string): PassedMove[] =>
  moves(commonDir)
    .split("\n")
    .flatMap((line) => passedMove(line) ?? []);

/** The latest of each protected branch; there may be many, and a read command has no time for the others. */
export function lastPassed(commonDir: string): PassedMove[] {
  const text = moves(commonDir);
  if (text === "") return [];
  return namesIfPresent(tipsFolder(commonDir)).flatMap((name) => {
    const at = text.lastIndexOf(` ${refOfBranch(name.replaceAll("~", "/"))} `);
    return at < 0
      ? []
      : (passedMove(text.slice(text.lastIndexOf("\n", at) + 1).split("\n", 1)[0] ?? "") ?? []);
  });
}

/** `old new ref why`. */
function passedMove(line: string): PassedMove | undefined {
  const [old, fresh, ref, why] = line.split(" ");
  return old && fresh && ref && why ? { old, new: fresh, ref, why } : undefined;
}

/**
 * One-line files that the hooks read with nothing but the shell's own words, found by the ref they are about:
 * `update/<ref>` says `old new ref` and allows exactly that one move, `worktree/<ref>` says which worktree's git
 * directory, relative to the common one, a task's branch may be moved from, `unlock/<ref>` says until which second a
 * human opened a protected branch, and by which record.
 */
type GrantKind = "update" | "worktree" | "unlock";

export const grantsFolder = (commonDir: string, kind: GrantKind) => ours(commonDir, "grants", kind);
export const grantFile = (commonDir: string, kind: GrantKind, ref: string) =>
  `${grantsFolder(commonDir, kind)}/${ref}`;

/** All grants of a kind with what they say: nothing where one cannot be read, which grants nothing and is told all the same. */
export function readGrants(commonDir: string, kind: GrantKind): { ref: string; said: string }[] {
  const folder = grantsFolder(commonDir, kind);
  return pathsIfPresent(folder)
    .filter((ref) => isFile(`${folder}/${ref}`))
    .map((ref) => ({ ref, said: lineIfReadable(`${folder}/${ref}`) ?? "" }));
}

/** Some protected branch is open, or one that was waits to be closed. */
export const hasUnlocks = (commonDir: string) =>
  namesIfReadable(grantsFolder(commonDir, "unlock")).length > 0;

/** Until when an unlock holds, in milliseconds since 1970, and by which record. */
export function unlockIn(said: string): { until: number; record: string | undefined } {
  const [until, record] = said.split(" ");
  return { until: Number(until) * 1000, record };
}
