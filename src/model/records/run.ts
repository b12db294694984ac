import {
  flag,
  group,
  integer,
  list,
  matching,
  oneOf,
  optional,
  sha,
  text,
  time,
  withDefault,
  word,
} from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { MERGE_STYLES } from "../statement.ts";
import { attempt, envelope, limits, ROLES, RUN_MODES, RUN_STATUSES, settlement } from "./attempt.ts";
import { digest, partId, provenance, taskId } from "./shared.ts";
import { signed } from "./signed.ts";

/** Where one repository's part of the work is done; paths are relative to that repository's main worktree. */
const runRepo = group({
  name: text("my-project"),
  worktree: text(".worktrees/T0001-make-it-faster"),
  branch: text("task/T0001-make-it-faster"),
  /** What the task means for this repository. A human may change it; then it says which one it was, until `refresh` brought the new one in. */
  base_branch: text("main"),
  base_was: optional(text("main")),
  /** When a human changed it: who reviewed the work before that saw another diff. */
  base_since: optional(time),
  /** What the world looked like when the run began, or when another base was brought in; a base that only moved does not change it. */
  base_head: sha,
  /** The tip of the task's branch when the run ended. */
  head: optional(sha),
  /** There were uncommitted changes where the work came from: in the worktree itself, or in the checkout around it. */
  dirty: withDefault(flag, false),
  /** The worktree was there already: we neither made it nor may remove it with force. */
  adopted: withDefault(flag, false),
});

/** The saved diff of one repository: a commit kept by a ref, and a patch beside the record. */
const runSnapshot = group({
  repo: text("my-project"),
  commit: sha,
  head: sha,
  tree: sha,
  base_head: sha,
  patch_sha256: digest,
  files: integer,
  insertions: integer,
  deletions: integer,
  /** False when something could not be saved, such as changes inside a nested repository. */
  whole: withDefault(flag, true),
});

/** A moved base that was brought into the task's branch; without overlap the review of `from` holds for `to`. */
const runRefresh = group({
  repo: text("my-project"),
  from: sha,
  to: sha,
  base: sha,
  overlap: flag,
});

/** How the work came into the base without an approval here, such as by a pull request: the base's own commits. */
const runLanded = group({
  repo: text("my-project"),
  how: oneOf(["merge", "fast-forward", "squash", "rebase"]),
  commits: list(sha),
});

/** One stretch of isolated work on a task. */
export const run = kind({
  name: "run",
  plural: "runs",
  letter: "R",
  ownFolder: true,
  fields: {
    id: partId("R"),
    status: oneOf(RUN_STATUSES),
    /** What became of the worktrees in the end. */
    ended: optional(oneOf(["kept", "removed"])),
    reason: optional(text("merged")),
    agent: optional(text("codex")),
    role: optional(oneOf(ROLES)),
    command: list(word),
    mode: optional(oneOf(RUN_MODES)),
    /** The run that started this one. */
    parent: optional(partId("R")),
    /** The run in whose worktrees this one works; it neither made them nor ends them. */
    within: optional(partId("R")),
    attempts: list(attempt),
    limits: optional(limits),
    /** What a conductor has to see to, and how many of it at the same time. */
    tasks: list(taskId),
    at_once: optional(integer),
    /** Who reviews in a pipeline, and how often what it finds may be fixed. */
    reviewer: optional(text("codex")),
    rounds: optional(integer),
    /** What a human allows a manager, and the runs that it has started. */
    envelope: optional(envelope),
    children: list(partId("R")),
    /** How its manager or a human judged attempts. */
    settled: list(settlement),
    /** A fixer's trees and open reasons at its start, to see if it changed any; a manager's plan when it first started a run. */
    basis: optional(digest),
    pid: optional(integer),
    exit_code: optional(integer),
    log: optional(text("log.txt")),
    /** The clone whose worktrees these are. */
    clone: text("1a2b3c4d"),
    /** Who works in it; a claim changes this, while `actor` stays who began. */
    holder: text("agent:codex"),
    repos: list(runRepo),
    snapshots: list(runSnapshot),
    refreshed: list(runRefresh),
    landed: list(runLanded),
    /** The saved run that this one went on from. */
    restored: optional(partId("R")),
    ...provenance,
  },
  sections: { notes: "Notes" },
});

const approvalRepo = group({
  name: text("my-project"),
  ref: text("refs/heads/main"),
  old: sha,
  new: sha,
  head: sha,
  tree: sha,
  diff_sha256: digest,
  pushed: withDefault(flag, false),
  /** What the merge was made on, where that is not `old`: the remote's tip, when it was faster. */
  onto: optional(sha),
  style: withDefault(oneOf(MERGE_STYLES), "merge" as const),
  /** The repository's own name in what was signed; absent where nobody has a key. */
  id: optional(text("0123abcd")),
});

/** `requested`: a human signed what a pull request asks for. The host makes the commit, so `new` is the `head` that it is to merge. */
const APPROVAL_STATUSES = ["prepared", "merged", "rolled_back", "requested"] as const;

/** A human's yes to exactly these commits. */
export const approval = kind({
  name: "approval",
  plural: "approvals",
  letter: "A",
  fields: {
    id: partId("A"),
    status: oneOf(APPROVAL_STATUSES),
    /** How the human confirmed it. */
    how: text("typed T0001 on the terminal"),
    receipt: digest,
    repos: list(approvalRepo),
    /** The approval under which this one merged again, because the remote was faster. */
    redo_of: optional(partId("A")),
    ...signed,
    ...provenance,
  },
  sections: { summary: "Summary", trouble: "Trouble" },
});

/** Says that the close stage was passed, and by what exactly; anything that changes it voids it. */
export const receipt = kind({
  name: "receipt",
  plural: "receipts",
  letter: "C",
  fields: {
    id: matching(/^T\d{4,}\/receipt$/, "an id such as T0001/receipt", "T0001/receipt"),
    stage: oneOf(["close"]),
    repos: list(group({ name: text("my-project"), head: sha, tree: sha, base: sha })),
    /** Of the task's plan and slices, its snapshots and the required checks. */
    records: digest,
    /** The findings, the evidence and the reviews, as they were. */
    proofs: list(group({ path: text("tasks/T0001/evidence/E1.md"), sha256: digest })),
    /** Of all of this: what an approval's signature is about. */
    digest,
    ...provenance,
  },
  sections: {},
});

/** A human confirmed that this clone's remote is what it seems to be. */
const trustedRoute = group({
  clone: text("1a2b3c4d"),
  remote: text("origin"),
  guarded: withDefault(flag, false),
  /** Of the address alone, which other clones may have in common, and of everything that decides who answers there. */
  address: digest,
  way: digest,
});

/** A repository that tasks may touch. Where it lies is known to each machine on its own. */
export const repository = kind({
  name: "repository",
  plural: "repos",
  letter: "P",
  fields: {
    // Made when it is used: all letters of Unicode take half a millisecond, which every command would pay.
    id: matching(() => /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u, "a plain name", "my-project"),
    /** The repository that the state belongs to. */
    home: withDefault(flag, false),
    /** Where its tasks start and return to, if that is not what the task says. */
    base_branch: optional(text("main")),
    /** What the protected branches were at when they began to be guarded, each once; what these contain was there before. */
    baseline: list(
      group({
        ref: text("refs/heads/main"),
        commit: sha,
        at: optional(time),
        clone: optional(text("1a2b3c4d")),
      }),
    ),
    /** Since when each clone guards a branch, and what that was at: its own log tells nothing from before. */
    begun: list(group({ clone: text("1a2b3c4d"), ref: text("refs/heads/main"), commit: sha, at: time })),
    /** Names and patterns that are protected: a branch that comes into being under one of them has no baseline of its own. */
    protects: list(text("release/*")),
    /** Clones in which the guard was put in place: where it is gone, somebody took it away. */
    guarded: list(text("1a2b3c4d")),
    /** The remotes that each clone trusts. The ways there are digests: where things lie is each machine's own business. */
    trusted: list(trustedRoute),
    ...provenance,
    repo: optional(text("my-project")),
  },
  sections: { notes: "Notes" },
});

/** A new repository's fields, before any clone guards it. */
export const UNGUARDED = { baseline: [], begun: [], protects: [], guarded: [], trusted: [], notes: "" };

/** What is said of a run that no agent was started for. */
export const BY_HAND = {
  agent: undefined,
  role: undefined,
  mode: undefined,
  parent: undefined,
  within: undefined,
  attempts: [],
  limits: undefined,
  tasks: [],
  at_once: undefined,
  reviewer: undefined,
  rounds: undefined,
  envelope: undefined,
  children: [],
  settled: [],
  basis: undefined,
};

export type Run = ValueOf<typeof run>;
export type RunRepo = Run["repos"][number];
export type RunSnapshot = Run["snapshots"][number];
export type Approval = ValueOf<typeof approval>;
export type Receipt = ValueOf<typeof receipt>;

/** The text whose sha256 is a receipt's digest. */
export const receiptText = ({ repos, records, proofs }: Pick<Receipt, "repos" | "records" | "proofs">) =>
  JSON.stringify({
    repos: repos.map(({ name, head, tree, base }) => ({ name, head, tree, base })),
    records,
    ...(proofs.length > 0 && { proofs: proofs.map(({ path, sha256 }) => ({ path, sha256 })) }),
  });

/** Whether a stored receipt is the one for this, in all that it says: its digest alone could stand over anything. */
export const isReceiptOf = (
  stored: Receipt | undefined,
  seal: Pick<Receipt, "repos" | "records" | "proofs" | "digest">,
): boolean => stored?.digest === seal.digest && receiptText(stored) === receiptText(seal);
export type TrustedRoute = RepositoryRecord["trusted"][number];
export type RepositoryRecord = ValueOf<typeof repository>;
