import { branchOfRef } from "../../model/naming.ts";
import type {
  BranchAudit,
  CommitFact,
  Known,
  MoveFact,
  Trace,
  TraceCode,
  Witness,
} from "../../ports/audit-facts.ts";
import {
  CLASSES,
  type Class,
  type Explained,
  explainer,
  isUndecided,
  mismatch,
  overwrites,
  refine,
} from "./classify.ts";

/** A problem other than an unexplained commit. */
export interface Finding {
  code: string;
  repo: string;
  /** The branch, worktree or file it is about. */
  where: string;
  message: string;
}

export interface AuditedBranch {
  repo: string;
  ref: string;
  tip: string;
  counts: Record<Class, number>;
  /** Every commit that the baseline does not have, newest first. */
  commits: Explained[];
  /** The commit from which keys are trusted, and how it got there; absent if nobody is enrolled. */
  root?: { commit: string; class: Class; by?: string } | undefined;
}

export interface Verdict {
  branch: AuditedBranch;
  findings: Finding[];
  notes: string[];
}

const short = (id: string) => id.slice(0, 12);
export interface Permitted {
  known: Known;
  /** Moves of the branch while a human had opened it. */
  unlockedMoves: readonly { old: string; new: string }[];
}

/** Judges one protected branch from facts alone. */
export function judgeBranch(repo: string, audit: BranchAudit, permitted: Permitted): Verdict {
  const { known } = permitted;
  const tell = explainer(known);
  const commits = refine(audit.commits.map(tell), audit);
  const counts = Object.fromEntries(CLASSES.map((one) => [one, 0])) as Record<Class, number>;
  for (const one of commits) counts[one.class] += 1;
  counts.baseline += audit.earlier;
  const branch = branchOfRef(audit.ref);
  const findings: Finding[] = [];
  const notes: string[] = [];
  const find = (code: string, where: string, message: string) =>
    findings.push({ code, repo, where, message });
  if (audit.standsFor !== undefined)
    find("symbolic_ref", branch, `${branch} is only an alias of ${branchOfRef(audit.standsFor)}.`);
  for (const { id, message } of contradictions(commits, known)) find("approval_mismatch", id, message);
  const here = new Set(audit.commits.map((one) => one.id));
  // A doubt about a commit is reported once, not again for the move that brought it.
  const open = new Set(commits.filter(isUndecided).map((one) => one.commit.id));
  // An unapproved commit is reported as such; the move that brought it is not a second problem.
  const isExplained = (commit: CommitFact) => open.has(commit.id) || tell(commit).class !== "unexplained";
  for (const move of audit.moves) {
    const told = judgeMove(move, audit.ref, { ...permitted, here, isExplained });
    if (told?.code) find(told.code, branch, told.message);
    else if (told) notes.push(told.message);
  }
  for (const one of audit.remotes)
    if (one.word === "denied")
      find(
        "remote_not_confirmed",
        one.tracking,
        `${one.tracking} is at ${short(one.believed)}, which ${one.name} does not have.`,
      );
  for (const { commit, by, from = branch } of audit.missing)
    find("approved_missing", from, `${from} no longer has ${short(commit)}, which ${by} let in.`);
  if (audit.unlogged) notes.push(`Git keeps no log of ${branch} here, so its history of moves is unknown.`);
  return { branch: { repo, ref: audit.ref, tip: audit.tip, counts, commits }, findings, notes };
}

/**
 * Whatever else explains such a commit, an approval that contradicts it was not written by `pawl approve`.
 */
function contradictions(
  commits: readonly Explained[],
  { approvals }: Known,
): { id: string; message: string }[] {
  const explained = new Map(
    commits.filter((one) => one.class !== "unexplained").map(({ commit }) => [commit.id, commit]),
  );
  return approvals.flatMap((one) => {
    const commit = explained.get(one.new);
    const wrong = commit && mismatch(one, commit);
    return wrong === undefined ? [] : [{ id: one.id, message: `It names ${short(one.new)}, but ${wrong}.` }];
  });
}

interface Judging extends Permitted {
  /** The commits that the branch has now. */
  here: ReadonlySet<string>;
  isExplained(commit: CommitFact): boolean;
}

/** How a move that is missing from git's log came about, worded to follow the description of the move. */
const UNLOGGED: Partial<Record<Witness, string>> = {
  guard: " while the guard was switched off",
  passed: ", which the guard allowed but git's log no longer shows",
  gap: " without git's knowledge",
  tip: " without git's knowledge",
};
const CODES: Partial<Record<Witness, string>> = { guard: "moved_unguarded", passed: "moved_away" };

/** What to say about a move: with a code if it is not allowed; nothing if its commits already say it. */
function judgeMove(
  move: MoveFact,
  ref: string,
  judging: Judging,
): { code?: string; message: string } | undefined {
  const branch = branchOfRef(ref);
  const from = `${branch} went from ${short(move.old)} to ${short(move.new)}`;
  const unlogged = UNLOGGED[move.seen] && `${from}${UNLOGGED[move.seen]}`;
  const unlocked = judging.unlockedMoves.some((one) => isSame(one, move));
  if (overwrites(move, ref) && !unlocked)
    return {
      code: "branch_overwritten",
      message: `Another branch took the place of ${branch}: ${move.message}.`,
    };
  if (unlocked || isPermitted(move, ref, judging))
    return unlogged === undefined || move.seen === "passed"
      ? undefined
      : { message: `${unlogged}; everything in it is explained.` };
  if (unlogged !== undefined) return { code: CODES[move.seen] ?? "reflog_gap", message: `${unlogged}.` };
  const at = `at ${move.time} ("${move.message}")`;
  if (move.forward === undefined)
    return { code: "moved_away", message: `${from} ${at}, to a commit that is gone.` };
  if (!move.forward) return { code: "rewound", message: `${from} ${at}, which took commits away.` };
  if (move.brought.every((one) => judging.here.has(one.id))) return undefined;
  return { code: "moved_away", message: `${from} ${at}, to commits that nobody approved.` };
}

const isSame = (one: { old: string; new: string }, other: { old: string; new: string }) =>
  one.old === other.old && one.new === other.new;

function isPermitted(move: MoveFact, ref: string, { known, isExplained }: Judging): boolean {
  // A merge that was redone on top of what the remote had replaces the first one.
  const madeAgain = () =>
    known.approvals.some(
      (one) => one.again && one.status === "merged" && one.ref === ref && isSame(one, move),
    );
  return (move.forward === true || madeAgain()) && move.brought.every(isExplained);
}

const WORDS: Record<TraceCode, (said: string) => string> = {
  replace_ref: (said) => `Git shows ${said} in place of this object.`,
  graft_file: () => "This file makes git show parents that the commits do not have.",
  shallow_graft: (said) => `This file hides the parents of ${said}, although they are here.`,
  hooks_path_changed: (said) => `Git does not use the guard's hooks there: ${said}.`,
  hook_missing: () => "This hook of the guard is missing.",
  hook_not_executable: () => "Git does not run this hook of the guard, because it is not executable.",
  hook_changed: () => "This hook of the guard was changed.",
  guard_removed: () => "The guard was installed in this clone and is gone.",
  program_changed: () =>
    "This file of the clone's copy of pawl was changed. To restore it: pawl doctor --fix",
  ref_rewritten: () =>
    "Its file was written after the guard last saw the branch move: the branch may have moved away and back. If you know why, accept it: pawl install --profile hooks",
  leftover_grant: (said) => `This grant belongs to no approval in progress: ${said}.`,
  forged_unlock: (said) => `No human's record explains this unlock: ${said}.`,
  branch_deleted: () => "This protected branch was deleted.",
};

export function judgeTrace(repo: string, trace: Trace): Finding {
  return { code: trace.code, repo, where: trace.where, message: WORDS[trace.code](trace.said) };
}
