import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalPath, lineIfReadable, textIfReadable } from "../files/read.ts";
import { discover, holderOfWorktree, type Place, taskOfWorktree } from "../git/discover.ts";
import { grantFile, unlockIn } from "../git/guard-files.ts";
import { readTablesWith } from "../git/ref-tables.ts";
import { headOf } from "../git/refs.ts";
import { worktreesOf } from "../git/repository-files.ts";
import { sessionOf } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { matchesPattern } from "../model/naming.ts";
import type { Facts, Spot } from "./facts.ts";

/** Facts from a handful of small files; nothing is started. */
export function openFacts(env: Environment, now: number, session: string): Facts {
  readTablesWith(env);
  const known = new Map<string, Spot | undefined>();
  return {
    home: env.HOME,
    real: canonicalPath,
    holding: (spot) => holding(spot, session),
    spotOf(folder) {
      if (!known.has(folder)) known.set(folder, lookAt(folder, now));
      return known.get(folder);
    },
  };
}

function lookAt(folder: string, now: number): Spot | undefined {
  const place = discoverOr(nearestExisting(folder));
  if (!place) return undefined;
  const { root, gitDir, commonDir, mainRoot } = place;
  const policy = textIfReadable(join(commonDir, "pawl", "policy"));
  const head = headOr(place);
  let patterns: string[] | undefined;
  return {
    root,
    gitDir,
    commonDir,
    mainRoot,
    branch: head?.branch,
    guarded: policy !== undefined,
    unborn: head !== undefined && head.commit === undefined,
    task: taskOfWorktree(gitDir),
    isProtected(branch) {
      patterns ??= (policy ?? "").split("\n").filter((line) => line !== "");
      return patterns.some((one) => matchesPattern(one, branch)) && !isUnlocked(commonDir, branch, now);
    },
  };
}

/** A worktree whose git directory is gone is a matter for git, not for us. */
function discoverOr(folder: string) {
  try {
    return discover(folder);
  } catch {
    return undefined;
  }
}

/** Refs in tables are told by a git that may be too old, or may fail: all that a refusal needs no ref for is refused even so. */
function headOr(place: Place) {
  try {
    return headOf(place);
  } catch {
    return undefined;
  }
}

export function nearestExisting(folder: string): string {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function holding(spot: Spot, session: string): "mine" | "another's" | undefined {
  const holder = heldIn(spot.gitDir);
  if (holder === undefined || session === "") return undefined;
  if (holder === session) return "mine";
  return worktreesOf(spot).some(({ gitDir }) => heldIn(gitDir) === session) ? "another's" : undefined;
}

const heldIn = (gitDir: string) => sessionOf(holderOfWorktree(gitDir) ?? "");

function isUnlocked(commonDir: string, branch: string, now: number): boolean {
  const said = lineIfReadable(grantFile(commonDir, "unlock", `refs/heads/${branch}`));
  return said !== undefined && unlockIn(said).until > now;
}
