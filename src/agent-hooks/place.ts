import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { lineIfReadable, textIfReadable } from "../files/read.ts";
import { BINDING, discover, HOLDER } from "../git/discover.ts";
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
    real: realPath,
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
  const head = headOf(place);
  let patterns: string[] | undefined;
  return {
    root,
    gitDir,
    commonDir,
    mainRoot,
    branch: head?.branch,
    guarded: policy !== undefined,
    unborn: head !== undefined && head.commit === undefined,
    task: lineIfReadable(join(gitDir, BINDING)),
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

function realPath(path: string): string {
  const at = nearestExisting(path);
  try {
    return join(realpathSync(at), path.slice(at.length));
  } catch {
    return path;
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

const heldIn = (gitDir: string) => sessionOf(lineIfReadable(join(gitDir, HOLDER)) ?? "");

/** A human's unlock names the second until which it holds. */
function isUnlocked(commonDir: string, branch: string, now: number): boolean {
  const grant = lineIfReadable(join(commonDir, "pawl", "grants", "unlock", "refs", "heads", branch));
  return grant !== undefined && Number(grant.split(" ")[0]) * 1000 > now;
}
