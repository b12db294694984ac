import { branchOfRef } from "../../model/naming.ts";
import type { SignedBy } from "../../model/signature.ts";
import type {
  ApprovedMerge,
  BranchAudit,
  CommitFact,
  Known,
  MoveFact,
  RemoteFact,
  Unapproved,
} from "../../ports/audit-facts.ts";

/** The last two are what an audit looks for. `pull_request`: a task whose request the host merged. */
export const CLASSES = [
  "baseline",
  "approved",
  "pull_request",
  "remote",
  "unlocked",
  "unapproved",
  "unexplained",
] as const;
export type Class = (typeof CLASSES)[number];

export const isWrong = ({ class: found }: { class: Class }) =>
  found === "unapproved" || found === "unexplained";

/** Why a commit is unapproved or unexplained. */
type Reason =
  | "approval_mismatch"
  | "approval_rewritten"
  | "approval_unfinished"
  | "not_signed"
  | "late_baseline"
  | "pushed_directly"
  | "remote_not_confirmed"
  | "remote_silent"
  | "remote_unconfirmed"
  | "remote_changed"
  | "remote_not_trusted"
  | "committed_directly"
  | "merged_directly"
  | "branch_overwritten"
  | "written_without_git"
  | "no_approval";

export interface Explained {
  commit: CommitFact;
  class: Class;
  /** The approval, unlock or remote that explains it. */
  by?: string;
  /** Whose signature the approval or the request carries. */
  signed?: SignedBy;
  reason?: Reason;
  message?: string;
}

/** Puts every commit into exactly one class; the order of the commits does not matter. */
export function explain(commits: readonly CommitFact[], known: Known): Explained[] {
  return commits.map(explainer(known));
}

/** The same, one commit at a time. */
export function explainer(known: Known): (commit: CommitFact) => Explained {
  const merges = new Map<string, ApprovedMerge[]>();
  const ids = new Map<string, ApprovedMerge>();
  for (const one of known.approvals) {
    merges.set(one.new, [...(merges.get(one.new) ?? []), one]);
    ids.set(one.id, one);
  }
  const along = fastForwarded(known.approvals);
  return (commit) => {
    if (known.baseline.has(commit.id)) return { commit, class: "baseline" };
    const named = merges.get(commit.id) ?? [];
    const approval = named.find((one) => isGood(one, commit)) ?? along.get(commit.id);
    if (approval) {
      const { id: by, signed } = approval;
      return { commit, class: "approved", by, ...(signed && { signed }) };
    }
    const unlock = known.unlocked.get(commit.id);
    if (unlock !== undefined) return { commit, class: "unlocked", by: unlock };
    const asked = known.signedRequests?.get(commit.id);
    if (asked) return { commit, class: "pull_request", by: asked.id, signed: asked.signed };
    const unsigned = notSigned(commit, named, known);
    if (unsigned) return { commit, class: "unexplained", ...unsigned };
    const unapproved = known.unapproved.get(commit.id);
    if (unapproved !== undefined) return { commit, ...whyUnapproved(unapproved) };
    const remote = known.remote.get(commit.id);
    const request = known.requests?.get(commit.id);
    if (remote !== undefined && request !== undefined) return { commit, class: "pull_request", by: request };
    if (remote !== undefined) return { commit, class: "remote", by: remote };
    return { commit, class: "unexplained", ...whyNot(commit, named, ids) };
  };
}

/** The commits below the tip of approved fast-forwards, which no merge commit covers. */
function fastForwarded(approvals: readonly ApprovedMerge[]): Map<string, ApprovedMerge> {
  const along = new Map<string, ApprovedMerge>();
  for (const one of approvals) {
    const [tip, ...others] = one.brought ?? [];
    if (tip?.id !== one.new || !isGood(one, tip)) continue;
    for (const { id } of others) along.set(id, one);
  }
  return along;
}

const isGood = (one: ApprovedMerge, commit: CommitFact) =>
  one.status === "merged" && one.distrust === undefined && mismatch(one, commit) === undefined;

/** A record would explain the commit if it were properly signed. */
function notSigned(
  commit: CommitFact,
  named: readonly ApprovedMerge[],
  { rejected }: Known,
): { reason: Reason; message: string } | undefined {
  const one = named.find(
    (each) => each.distrust !== undefined && each.status === "merged" && mismatch(each, commit) === undefined,
  );
  const message = one ? `${one.id} names it, but ${one.distrust}.` : rejected.get(commit.id);
  return message === undefined ? undefined : { reason: "not_signed", message };
}

function whyUnapproved({ remote, how }: Unapproved): Omit<Explained, "commit"> {
  const [reason, message] = HOW[how];
  return { class: "unapproved", by: remote, reason, message: message(remote) };
}

const HOW: Record<Unapproved["how"], [Reason, (remote: string) => string]> = {
  pushed: ["pushed_directly", (remote) => `This clone pushed it to ${remote}, and nobody approved it.`],
  guarded: ["no_approval", (remote) => `${remote} is guarded and has it, but nobody approved it.`],
  unsigned: [
    "not_signed",
    (remote) => `${remote} has it, but only a signature can explain it, and there is none.`,
  ],
};

function whyNot(
  commit: CommitFact,
  named: readonly ApprovedMerge[],
  ids: ReadonlyMap<string, ApprovedMerge>,
): { reason: Reason; message: string } {
  for (const one of named) {
    const wrong = mismatch(one, commit);
    if (wrong !== undefined)
      return { reason: "approval_mismatch", message: `${one.id} names it, but ${wrong}.` };
    if (one.status !== "merged")
      return { reason: "approval_unfinished", message: `${one.id} names it, but is ${one.status}.` };
  }
  const claimed = commit.names.flatMap((name) => ids.get(name) ?? [])[0];
  if (claimed)
    return {
      reason: "approval_rewritten",
      message: `It says that ${claimed.id} approved it, but that approved ${claimed.new.slice(0, 12)}.`,
    };
  return { reason: "no_approval", message: "Nobody approved it." };
}

/** How an approval and the commit that it names contradict each other. */
export function mismatch(approval: ApprovedMerge, commit: CommitFact): string | undefined {
  if (approval.style === "ff") return mismatchOfForward(approval, commit);
  const [first, second, ...others] = commit.parents;
  const merged = approval.style === "squash" ? undefined : approval.head;
  if (second !== merged || others.length > 0)
    return `it merges ${(second ?? "nothing").slice(0, 12)} instead of ${(merged ?? "nothing").slice(0, 12)}`;
  const base = approval.onto ?? (approval.again ? first : approval.old);
  if (first !== base)
    return `it was made on ${(first ?? "nothing").slice(0, 12)} instead of ${base?.slice(0, 12)}`;
  if (commit.tree !== approval.tree) return "its content is not what was approved";
  if (!commit.names.includes(approval.id)) return "its message does not name that approval";
  return undefined;
}

/**
 * A fast-forward makes no commit: it has to be the very commit that was checked, on a line that starts where
 * the branch was.
 */
function mismatchOfForward(approval: ApprovedMerge, commit: CommitFact): string | undefined {
  if (commit.id !== approval.head)
    return `it is not ${approval.head.slice(0, 12)}, the commit that was checked`;
  if (commit.tree !== approval.tree) return "its content is not what was approved";
  if (approval.again || approval.brought === undefined)
    return `it does not directly follow ${approval.old.slice(0, 12)}`;
  return undefined;
}

/** How an unapproved commit got onto the branch, as far as the branch's log tells. */
export function refine(explained: readonly Explained[], branch: BranchAudit): Explained[] {
  const bringers = new Map<string, MoveFact>();
  const overwriting = branch.moves.findLastIndex((one) => overwrites(one, branch.ref));
  branch.moves.forEach((move, index) => {
    // Putting another branch in place of this one brings that branch's log along.
    const bringer = index < overwriting ? (branch.moves[overwriting] ?? move) : move;
    for (const one of move.brought) bringers.set(one.id, bringer);
  });
  return explained.map((one) => {
    if (one.class !== "unexplained" || one.reason !== "no_approval") return one;
    const remote = branch.doubtful.get(one.commit.id);
    if (remote) return { ...one, ...whyDoubtful(remote) };
    if (branch.late.has(one.commit.id))
      return {
        ...one,
        reason: "late_baseline",
        message: `Not every clone's baseline contains it: one clone started from an older commit, or installed pawl on top of it later. A human who recognises it can accept it for all clones: pawl unlock ${branchOfRef(branch.ref)} --accept, then pawl sync`,
      };
    const move = bringers.get(one.commit.id);
    return move ? { ...one, ...howItCame(move, branch.ref) } : one;
  });
}

/** Whether the verdict depends on a remote that has not been asked, or that no human has confirmed. */
export const isUndecided = ({ reason }: Explained) =>
  reason === "remote_silent" || reason === "remote_unconfirmed";

function whyDoubtful({ name, tracking, word }: RemoteFact): { reason: Reason; message: string } {
  const only = `Only ${tracking} has it`;
  switch (word) {
    case "silent":
      return { reason: "remote_silent", message: `${only}, and ${name} was not asked or did not answer.` };
    case "unconfirmed":
      return {
        reason: "remote_unconfirmed",
        message: `${only}, and no human has confirmed where ${name} points.`,
      };
    case "changed":
      return {
        reason: "remote_changed",
        message: `${only}, and ${name} no longer points where a human confirmed.`,
      };
    case "untrusted":
      return { reason: "remote_not_trusted", message: `${only}, and ${name} is not a trusted remote.` };
    default:
      return { reason: "remote_not_confirmed", message: `${only}, but ${name} itself does not.` };
  }
}

/** Git logged that another branch was copied or renamed onto this one. */
export function overwrites(move: MoveFact, ref: string): boolean {
  return (
    move.seen === "log" &&
    /^branch: (?:copied|renamed) \S+ to /i.test(move.message) &&
    move.message.endsWith(` to ${ref}`)
  );
}

function howItCame(move: MoveFact, ref: string): { reason: Reason; message: string } {
  if (move.seen !== "log")
    return { reason: "written_without_git", message: "The branch was set to it without using git." };
  const message = `Nobody approved it; the branch's log says "${move.message}" at ${move.time}.`;
  if (overwrites(move, ref)) return { reason: "branch_overwritten", message };
  if (/^(?:merge|pull)\b/.test(move.message)) return { reason: "merged_directly", message };
  return { reason: "committed_directly", message };
}
