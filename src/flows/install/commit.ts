import { Failure } from "../../model/failure.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { CommitLook, Installation, PreparedCommit, SurfaceRequest } from "../../ports/installation.ts";
import type { Next } from "../../ports/operation.ts";
import type { Site } from "../../ports/sites.ts";
import { closeWithMoves, isProtectedBranch, newUnlock } from "../audit/open-unlock.ts";
import { closeUnlock } from "../audit/unlocks.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../human-only.ts";
import { signMove } from "../trust/sign.ts";

const SECONDS = 60;

export interface CommitChoice {
  look: CommitLook;
  /** The guard holds this branch: only a human may commit on it, and it is recorded. */
  guarded: boolean;
}

/** Everything that could keep a commit from being made, asked before anything is written. */
export async function expectCommittable(
  hands: Hands,
  installation: Installation,
  site: Site,
): Promise<CommitChoice> {
  const look = installation.lookAtCommit();
  if (look.obstacle) {
    const { code, message, hint } = look.obstacle;
    throw new Failure("refused", code, message, { hint, details: { branch: look.branch } });
  }
  const guarded = await isGuarded(hands, site, look);
  if (guarded) {
    await refuseAgents(hands, `commit on ${look.branch}, which is protected`);
    await expectTerminal(hands);
  }
  return { look, guarded };
}

/** How a commit of what is installed would go; undefined where there is nothing to commit. */
export function lookAtUncommitted(installation: Installation): CommitLook | undefined {
  const { hasFiles } = installation;
  return hasFiles && installation.installed() && !installation.isCommitted()
    ? installation.lookAtCommit()
    : undefined;
}

/** What is only written reaches no task: a guarded branch takes it from this one command, and from a human. */
export async function nextCommit(
  hands: Hands,
  site: Site,
  look: CommitLook | undefined,
): Promise<Next | undefined> {
  if (look === undefined) return undefined;
  if (look.obstacle)
    return {
      command: "pawl install --commit",
      reason: "once that is settled: tasks start from what is committed",
    };
  const guarded = await isGuarded(hands, site, look);
  const where = guarded
    ? `in a terminal: ${look.branch} is protected, so git commit is refused there; this commits exactly pawl's files, and `
    : "";
  return { command: "pawl install --commit", reason: `${where}tasks start from what is committed` };
}

/** Why nothing was committed, where nobody could be asked whether to: the commands that settle it come with it. */
export function whyUncommitted(look: CommitLook | undefined): string[] {
  const obstacle = look?.obstacle;
  return obstacle ? [`Pawl's files are not committed. ${obstacle.message}\n${obstacle.hint}`] : [];
}

/** What a person does once the files are in place: commit them, push the commit, start a task. */
export async function nextStep(
  hands: Hands,
  site: Site,
  look: CommitLook | undefined,
  made: PreparedCommit | undefined,
): Promise<Next | undefined> {
  const uncommitted = await nextCommit(hands, site, look);
  if (uncommitted || !made) return uncommitted;
  const begin = {
    command: 'pawl start "<title>"',
    reason: "creates a task with its branch and worktree",
  };
  const upstream = await (await hands.git.remotes()).remoteOf(site, made.branch);
  if (!upstream) return begin;
  return {
    command: `git push ${quoted(upstream.remote)} ${quoted(made.branch)}`,
    reason: `other clones, pull requests and CI need it there; then: ${begin.command}`,
  };
}

/** A branch that never was may come into being, and is the baseline then. */
async function isGuarded(hands: Hands, site: Site, { branch, tip }: CommitLook): Promise<boolean> {
  if (branch === undefined || tip === undefined) return false;
  if (!(await hands.git.audits()).guardActive(site)) return false;
  return isProtectedBranch(hands, site, branch);
}

/** Commits exactly what was installed. On a guarded branch a human's word is recorded before, and the move after. */
export async function commitInstalled(
  hands: Hands,
  installation: Installation,
  site: Site,
  request: SurfaceRequest,
  { guarded }: CommitChoice,
): Promise<PreparedCommit | undefined> {
  const prepared = installation.prepareCommit(request);
  if (!prepared) return undefined;
  const { branch, ref, old, commit } = prepared;
  if (!guarded || old === undefined) {
    installation.commit(prepared, false);
    return prepared;
  }
  await confirmTyped(hands, `${branch} is protected. Type ${branch} to commit pawl's files on it: `, branch);
  const signing = await signMove(hands, site, { ref, old, new: commit }, undefined);
  const until = (await hands.git.locks()).later(SECONDS);
  const reason = `pawl install --commit: ${prepared.paths.length} files of pawl ${installation.version}`;
  const opened = await hands.record(
    (reader, at) => newUnlock(reader, at, { ref, tip: old, until, reason, repo: site.name, ...signing }),
    { phase: "before", milestone: `commit the installed files on ${branch}` },
  );
  try {
    installation.commit(prepared, true);
  } catch (error) {
    await closeUnlock(hands, opened.data.unlock);
    throw error;
  }
  await closeWithMoves(hands, opened.data.unlock.id, [{ old, new: commit }]);
  return prepared;
}
