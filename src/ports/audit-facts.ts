import type { Approval } from "../model/records/run.ts";
import type { SignedBy } from "../model/signature.ts";
import type { MergeStyle } from "../model/statement.ts";

/** One commit, as its object says it: no replacement, graft or cache has a say. */
export interface CommitFact {
  id: string;
  parents: string[];
  tree: string;
  time: string;
  author: string;
  subject: string;
  /** The approvals that its message names (`Pawl-Approval:`). */
  names: string[];
}

/** What an approval says about one branch of one repository. */
export interface ApprovedMerge {
  id: string;
  status: "prepared" | "merged" | "rolled_back";
  ref: string;
  old: string;
  new: string;
  head: string;
  tree: string;
  style: MergeStyle;
  /** Of a fast-forward: the commits that it brought, the approved one first; undefined where these do not begin at `old`. */
  brought?: readonly CommitFact[];
  /** It was made on what the remote had, so that its first parent is not `old`. */
  again: boolean;
  onto: string | undefined;
  pushed: boolean;
  record: Pick<Approval, "uid" | "receipt" | "repos" | "signatures" | "how">;
  /** Whose signature it has, where one was needed. */
  signed?: SignedBy;
  /** Why it explains nothing, although it says so. */
  distrust?: string;
}

/** What there is to explain commits with. Sets may be empty where git has left such commits out already. */
export interface Known {
  baseline: ReadonlySet<string>;
  approvals: readonly ApprovedMerge[];
  /** Commits that came while a human had opened the branch, with the record's id. */
  unlocked: ReadonlyMap<string, string>;
  /** Commits that a record would explain if it were signed, with what is wrong. */
  rejected: ReadonlyMap<string, string>;
  /** Commits that a remote has, with its name. */
  remote: ReadonlyMap<string, string>;
  /** Commits that a remote has, and by which a task's work came there, with the run's id. */
  requests?: ReadonlyMap<string, string>;
  /** Commits that a host made of a request that a human signed. */
  signedRequests?: ReadonlyMap<string, SignedRequest>;
  /** Commits that reached a remote past its rules. */
  unapproved: ReadonlyMap<string, Unapproved>;
}

/** The record of a request, and whose signature it has. */
export interface SignedRequest {
  id: string;
  signed: SignedBy;
}

export interface Unapproved {
  remote: string;
  /** The remote takes only what was approved, this clone pushed it past its own hook, or it needs a signature. */
  how: "guarded" | "pushed" | "unsigned";
}

/** Where a change of a branch was noticed. */
export type Witness =
  /** Git wrote it into the branch's log. */
  | "log"
  /** The log goes on from another commit than it had come to. */
  | "gap"
  /** The branch is not where its log ends. */
  | "tip"
  /** The branch is not where the guard last saw it. */
  | "guard"
  /** The guard let it pass, and the log does not have it any more. */
  | "passed";

/** One change of a protected branch. */
export interface MoveFact {
  seen: Witness;
  old: string;
  new: string;
  time: string;
  message: string;
  /** Nothing was lost by it; undefined when git cannot tell, because a commit is gone. */
  forward: boolean | undefined;
  /** What it brought, without what the baseline or a remote has. */
  brought: CommitFact[];
}

/** What a remote's word about a branch is worth. */
export type RemoteWord =
  | "confirmed"
  /** It was asked, and does not have it. */
  | "denied"
  /** It did not answer, or was not asked. */
  | "silent"
  /** Nobody has confirmed yet where it is. */
  | "unconfirmed"
  /** It leads elsewhere than where a human confirmed it. */
  | "changed"
  /** Nobody trusts it. */
  | "untrusted";

/** What a remote said about a branch, compared with what is known of it here. */
export interface RemoteFact {
  name: string;
  tracking: string;
  /** What this clone believes the remote has. */
  believed: string;
  word: RemoteWord;
}

export interface BranchAudit {
  ref: string;
  tip: string;
  /** The ref stands for another one instead of being a commit. */
  standsFor: string | undefined;
  /** The first-parent commits that no baseline has, newest first. */
  commits: CommitFact[];
  /** How many the baseline has. */
  earlier: number;
  moves: MoveFact[];
  remotes: RemoteFact[];
  /** There is no log of its moves, or it was emptied. */
  unlogged: boolean;
  /** Commits that a remote-tracking ref has, with the remote whose word for them is not good enough. */
  doubtful: ReadonlyMap<string, RemoteFact>;
  /** Commits that only a baseline covers which was recorded after the first one. */
  late: ReadonlySet<string>;
  missing: LostCommit[];
}

/** A commit that a human's word brought, and that the branch, or the named remote-tracking ref, does not have any more. */
export interface LostCommit {
  commit: string;
  /** The approval or the unlock. */
  by: string;
  from: string | undefined;
}

/** A fact about the repository itself, found by looking; the judge only gives it words. */
export interface Trace {
  code: TraceCode;
  where: string;
  said: string;
}

export type TraceCode =
  | "replace_ref"
  | "graft_file"
  | "shallow_graft"
  | "hooks_path_changed"
  | "hook_missing"
  | "hook_not_executable"
  | "hook_changed"
  | "guard_removed"
  | "program_changed"
  | "ref_rewritten"
  | "leftover_grant"
  | "forged_unlock"
  | "branch_deleted";
