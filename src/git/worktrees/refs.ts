import { join } from "node:path";
import { textIfPresent } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import { branchOfRef, refOfBranch } from "../../model/naming.ts";
import { step } from "../../model/steps.ts";
import type { RepositoryLook, Workplace } from "../../ports/worktrees.ts";
import { readConfig } from "../config-file.ts";
import { unsupportedFormat } from "../format.ts";
import { grantMove, unbindBranch, withdrawMove } from "../grants.ts";
import { nothingLike } from "../object-ids.ts";
import { dropLockOnceStale } from "../ref-locks.ts";
import { lockOf, tipOf } from "../refs.ts";
import { expectGit } from "../run-git.ts";
import { listWorktrees } from "./entries.ts";
import type { SiteGit } from "./site-git.ts";

const HEADS = "refs/heads/";
const REMOTES = "refs/remotes/";

export async function lookAt(git: SiteGit): Promise<RepositoryLook> {
  const { commonDir, mainRoot } = git.site;
  const heads = new Map<string, string>();
  const remotes = new Map<string, string>();
  const unsupported = unsupportedFormat(commonDir);
  if (unsupported !== undefined)
    return { unsupported, heads, remotes, defaultBranch: undefined, worktrees: [] };
  let defaultBranch: string | undefined;
  const format = "--format=%(objectname) %(refname) %(symref)";
  const listed = await git.expect("The branches could not be read", ["for-each-ref", format, HEADS, REMOTES]);
  for (const line of listed.split("\n")) {
    const [commit = "", ref = "", target = ""] = line.split(" ");
    if (ref.startsWith(HEADS)) heads.set(branchOfRef(ref), commit);
    else if (ref === `${REMOTES}origin/HEAD`) defaultBranch = target.slice(`${REMOTES}origin/`.length);
    else if (ref !== "") remotes.set(ref.slice(REMOTES.length), commit);
  }
  const worktrees = listWorktrees(commonDir, mainRoot);
  return { unsupported, heads, remotes, defaultBranch: defaultBranch || undefined, worktrees };
}

export const refOf = (place: Pick<Workplace, "branch">) => refOfBranch(place.branch);

/** What a git that was killed may have left on the task's own branch keeps everybody from moving it. */
const clearLock = (git: SiteGit, ref: string) => dropLockOnceStale(lockOf(git.site.commonDir, ref));

export async function makeBranch(git: SiteGit, place: Workplace, commit: string): Promise<void> {
  const ref = refOf(place);
  const { commonDir } = git.site;
  await clearLock(git, ref);
  // From git's files: a git of its own would cost more than everything else about a start.
  const current = tipOf(commonDir, ref);
  if (current === undefined) {
    step("worktree branch");
    const nothing = nothingLike(commit);
    grantMove(commonDir, { ref, old: nothing, new: commit });
    const words = `pawl: ${place.task} started`;
    const made = await git.ask(["update-ref", "--create-reflog", "-m", words, ref, commit, nothing]);
    withdrawMove(commonDir, ref);
    if (made.code === 0) return;
    // Somebody may have been faster; otherwise git says why it could not.
    if ((await git.commitOf(ref)) === undefined) expectGit(made, `${place.branch} could not be created`);
    throw branchExists(place);
  }
  withdrawMove(commonDir, ref);
  if (current !== commit) throw branchExists(place);
}

function branchExists({ branch, site }: Workplace): Failure {
  return new Failure("conflict", "branch_exists", `The branch ${branch} of ${site.name} already exists.`, {
    hint: `Look at it with \`git log ${branch}\`; rename it if you need it, then run this again.`,
    details: { repo: site.name, branch },
  });
}

/** A branch is deleted by its exact commit only, and not while somebody has it checked out. */
export async function deleteBranch(git: SiteGit, place: Workplace, commit: string): Promise<boolean> {
  const ref = refOf(place);
  const { commonDir, mainRoot } = git.site;
  await clearLock(git, ref);
  const current = await git.commitOf(ref);
  const used = listWorktrees(commonDir, mainRoot).some((one) => one.branch === place.branch);
  if (current !== undefined && (current !== commit || used)) return false;
  if (current !== undefined) {
    step("worktree branch delete");
    grantMove(commonDir, { ref, old: commit, new: nothingLike(commit) });
    const deleted = await git.ask(["update-ref", "-m", `pawl: ${place.task} ended`, "-d", ref, commit]);
    withdrawMove(commonDir, ref);
    expectGit(deleted, `${place.branch} could not be deleted`);
  }
  withdrawMove(commonDir, ref);
  unbindBranch(commonDir, ref);
  await forgetSettings(git, place);
  return true;
}

/** What git wrote down about the branch, such as what it follows, goes with it, as `git branch -D` has it. */
async function forgetSettings(git: SiteGit, { branch }: Workplace): Promise<void> {
  const config = textIfPresent(join(git.site.commonDir, "config")) ?? "";
  if (!readConfig(config).some((one) => one.section === `branch ${branch}`)) return;
  // Left there it is untidy and harms nobody, so that nothing hangs on it.
  await git.ask(["config", "--local", "--remove-section", `branch.${branch}`]);
}
