import { existsSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../../files/pause.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import { step } from "../../model/steps.ts";
import type { Site, Sites } from "../../ports/sites.ts";
import { grantMove, withdrawMove } from "../grants.ts";
import { rootOf } from "../repository-files.ts";
import { Git } from "../run-git.ts";
import { changedPaths } from "./changed-paths.ts";
import {
  holdsIndexLock,
  lockIndex,
  type Moving,
  moveIndex,
  nextIndex,
  refreshIndex,
  unlockIndex,
} from "./checkout-files.ts";
import type { Journal, RepositoryStep } from "./journal.ts";
import { openRefTransaction } from "./ref-transaction.ts";
import { repairFiles } from "./repair.ts";
import { dropStaleLocks } from "./stale-locks.ts";

/** One repository of a journal, as this machine has it now. */
export interface Part {
  repo: RepositoryStep;
  site: Site;
  git: Git;
  checkouts: Moving[];
}

export interface Settling {
  env: Environment;
  journal: Journal;
  parts: Part[];
  /** What the folder is called in which copies of the user's files are kept. */
  name: string;
}

export function partsOf(env: Environment, sites: Sites, journal: Journal): Part[] {
  return journal.repos.map((repo) => {
    const site = sites.named(repo.name);
    const checkouts = repo.checkouts.flatMap((one) => {
      const gitDir = join(site.commonDir, one.gitDir);
      const root = one.gitDir === "." ? site.mainRoot : rootOf(gitDir);
      // A worktree that was removed meanwhile has no files that could be half written.
      return root !== undefined && existsSync(root) ? [{ root, gitDir, step: one }] : [];
    });
    return { repo, site, git: Git.of("quiet", env, site.commonDir), checkouts };
  });
}

const refOf = (part: Part) => refOfBranch(part.repo.branch);

export function grantPart(part: Part): void {
  step("merge-grant");
  grantMove(part.site.commonDir, { ref: refOf(part), old: part.repo.old, new: part.repo.new });
}

export function withdrawPart(part: Part): void {
  step("merge-withdraw-grant");
  withdrawMove(part.site.commonDir, refOf(part));
}

const heldRef = (name: string) => `refs/pawl/merging/${name}`;

/** Until the branch has moved nothing else keeps the new commit: a garbage collection in between would take it. */
export async function hold({ parts, name }: Settling): Promise<void> {
  for (const { git, repo } of parts) {
    step("merge-hold");
    await git.expect("The merge commit could not be kept", ["update-ref", heldRef(name), repo.new]);
  }
}

export async function letGo({ parts, name }: Settling): Promise<void> {
  for (const { git } of parts) {
    step("merge-let-go");
    await git.ask(["update-ref", "-d", heldRef(name)]);
  }
}

const tipOf = (part: Part) => part.git.commitOf(refOf(part));

/** Everything as before, in every repository. May be repeated at any point of itself. */
export async function takeBack(settling: Settling): Promise<string[]> {
  const notes: string[] = [];
  for (const part of settling.parts) {
    const { repo, site } = part;
    await dropStaleLocks(settling.journal, repo, site.commonDir);
    if (settling.journal.decided && (await tipOf(part)) === repo.new) await moveRef(settling, part, "back");
    for (const moving of part.checkouts) {
      if (moving.step.writing) notes.push(...(await restore(settling, part, moving, "old")));
      unlockIndex(moving);
      if (moving.step.writing) await refreshIndex(settling.env, moving);
    }
    withdrawPart(part);
  }
  return notes;
}

/**
 * Everything done, in every repository. Where somebody moved a branch elsewhere before we could, nothing is left but to
 * take all of it back, and to say so.
 */
export async function complete(settling: Settling): Promise<{ outcome: "done" | "undone"; notes: string[] }> {
  const { journal, parts } = settling;
  for (const part of parts) await dropStaleLocks(journal, part.repo, part.site.commonDir);
  const tips = await Promise.all(parts.map(async (part) => ({ part, at: await whereIs(part) })));
  const lost = tips.filter(({ at }) => at === "elsewhere");
  if (lost.length > 0) {
    const torn = tips.filter(({ at }) => at === "beyond");
    if (torn.length > 0) throw tornApart(lost[0]?.part, torn[0]?.part);
    const where = lost.map(({ part }) => `${part.repo.branch} of ${part.repo.name}`).join(", ");
    const notes = await takeBack(settling);
    return { outcome: "undone", notes: [`${where} was moved by somebody else in the meantime.`, ...notes] };
  }
  const notes: string[] = [];
  for (const { part, at } of tips) if (at === "old") await moveRef(settling, part, "forward");
  for (const part of parts) {
    for (const moving of part.checkouts) {
      notes.push(...(await restore(settling, part, moving, "new")));
      unlockIndex(moving);
    }
    withdrawPart(part);
  }
  return { outcome: "done", notes };
}

async function whereIs(part: Part): Promise<"old" | "new" | "beyond" | "elsewhere"> {
  const tip = await tipOf(part);
  if (tip === part.repo.old) return "old";
  if (tip === part.repo.new) return "new";
  if (tip === undefined) return "elsewhere";
  return (await part.git.isAncestor(part.repo.new, tip)) ? "beyond" : "elsewhere";
}

/** Another git may hold the branch for a moment; it is waited for, because there is no other way to go. */
async function moveRef({ env, journal }: Settling, part: Part, way: "forward" | "back"): Promise<void> {
  const { repo, site } = part;
  const [old, fresh] = way === "forward" ? [repo.old, repo.new] : [repo.new, repo.old];
  grantMove(site.commonDir, { ref: refOf(part), old, new: fresh });
  for (let tries = 0; ; tries++) {
    step("merge-ref");
    const transaction = openRefTransaction(env, {
      name: repo.name,
      gitDir: join(site.commonDir, repo.head),
      branch: repo.branch,
      old,
      new: fresh,
      reflog: way === "forward" ? journal.reflog : `${journal.reflog}, taken back`,
    });
    try {
      await transaction.prepare();
      return await transaction.commit();
    } catch (error) {
      await transaction.abort();
      if (!(error instanceof Failure) || error.code !== "ref_busy" || tries === MOVE_TRIES) throw error;
      await pause(MOVE_PAUSE_MS);
    }
  }
}

const MOVE_TRIES = 20;
const MOVE_PAUSE_MS = 100;

/** The files and the index of one side, in one worktree; what the user changed since is kept and told. */
async function restore(
  { env, journal, name }: Settling,
  { repo, site, git }: Part,
  moving: Moving,
  side: "old" | "new",
): Promise<string[]> {
  if (!holdsIndexLock(moving)) lockIndex(moving);
  const rescueFolder = join(site.commonDir, "pawl", "rescued", name);
  const kept = await repairFiles(env, {
    checkout: moving,
    changed: await changedPaths(git, repo.old, repo.new),
    side,
    commit: repo[side],
    scratchIndex: `${nextIndex(moving)}-repair`,
    rescueFolder,
  });
  const notes = kept.map(
    (path) =>
      `${join(moving.root, path)} has changed in the meantime and stays; a copy is in ${rescueFolder}.`,
  );
  if (!journal.decided) return notes;
  const [old, fresh] = side === "new" ? [repo.old, repo.new] : [repo.new, repo.old];
  try {
    await moveIndex(env, moving, { old, new: fresh });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    notes.push(`${error.message} What you had staged there stays staged: see git status.`);
  }
  return notes;
}

function tornApart(lost: Part | undefined, torn: Part | undefined): Failure {
  const [left, right] = [lost, torn].map((part) => `${part?.repo.branch} of ${part?.repo.name}`);
  return new Failure(
    "unavailable",
    "merge_torn",
    `An interrupted merge cannot be finished or undone: ${left} was moved elsewhere, and others have built on ${right}.`,
    {
      hint: `Move ${left} back to ${lost?.repo.old.slice(0, 12)} or on to ${lost?.repo.new.slice(0, 12)}, then run the command again.`,
      details: { repos: [lost?.repo, torn?.repo] },
    },
  );
}
