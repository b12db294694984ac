import { Failure } from "../../model/failure.ts";
import { branchOfRef, refOfBranch } from "../../model/naming.ts";
import type { Task } from "../../model/records/task.ts";
import type { MergeStyle } from "../../model/statement.ts";
import type { Hands } from "../../ports/hands.ts";
import type { BranchMove, Undertaking } from "../../ports/merges.ts";
import type { Plan } from "../../ports/operation.ts";
import type { Site } from "../../ports/sites.ts";
import {
  type ApprovalRepo,
  type Landed,
  landApproval,
  nextApproval,
  prepareApproval,
  withdrawApproval,
} from "./approve-records.ts";
import type { SignedMerges } from "./approve-sign.ts";

/** One repository's part of an approved merge, before its commit exists. */
export interface WantedMerge {
  site: Site;
  base_branch: string;
  /** What the base branch is at now. */
  old: string;
  /** What the merge is made on; the branch itself, or the remote's tip when it is made again. */
  onto: string;
  head: string;
  /** The tree that the merge must have. */
  tree: string;
  style: MergeStyle;
}

export interface Approved {
  task: Task;
  receipt: string;
  summary: string;
  merges: WantedMerge[];
  redoOf: string | undefined;
}

/** The merges as objects that no branch has yet: what a human says yes to is exactly these. */
export interface MadeMerges {
  /** The number of the approval, which the commits name. */
  part: string;
  repos: { repo: ApprovalRepo; move: BranchMove }[];
}

/** Makes the commits before anybody is asked, so that they are what is signed. */
export async function makeMerges(hands: Hands, approved: Approved): Promise<MadeMerges> {
  const { id } = approved.task;
  const part = await hands.look((reader) => nextApproval(reader, id));
  return { part, repos: await makeCommits(hands, approved, `${id}/${part}`) };
}

/**
 * The objects are there; now the journal, then the record, then the branches of all repositories or of none, then the
 * records that tell it. Only inside `exclusively`.
 */
export async function mergeApproved(
  hands: Hands,
  approved: Approved,
  { part, repos: made }: MadeMerges,
  signed: SignedMerges,
): Promise<Plan<Landed>> {
  const { id } = approved.task;
  const merges = await hands.git.merges();
  const commits = made.map((one) => one.repo.new);
  const purpose = { kind: "approval" as const, task: id, approval: part, commits };
  const reflog = `pawl: merge ${id} (${id}/${part})`;
  const undertaking = await merges.begin(
    `${id}-${part}`,
    purpose,
    reflog,
    made.map((one) => one.move),
  );
  try {
    const { receipt, summary, redoOf } = approved;
    const prepared = { task: id, part, receipt, summary, redoOf, ...signed };
    await hands.record((reader, at) => prepareApproval(reader, at, prepared), { phase: "before" });
    await undertaking.carryOut();
  } catch (error) {
    throw await giveUp(hands, undertaking, purpose, error);
  }
  const landed = await hands.record((reader, at) => landApproval(reader, at, id, part), {
    phase: "after",
    milestone: milestoneOf(id, part, made),
  });
  await undertaking.close();
  return landed;
}

const milestoneOf = (id: string, part: string, made: readonly { repo: ApprovalRepo }[]) =>
  `${id}: merged into ${[...new Set(made.map(({ repo }) => branchOfRef(repo.ref)))].join(", ")} (${id}/${part})`;

async function makeCommits(
  hands: Hands,
  approved: Approved,
  approvalId: string,
): Promise<{ repo: ApprovalRepo; move: BranchMove }[]> {
  const merges = await hands.git.merges();
  const made: { repo: ApprovalRepo; move: BranchMove }[] = [];
  for (const wanted of approved.merges) {
    const { site, base_branch, old, onto, head, tree, style } = wanted;
    const fresh = await makeCommit(hands, approved.task, approvalId, wanted);
    const diff_sha256 = await merges.diffDigest(site, onto, fresh);
    made.push({
      move: { site, branch: base_branch, old, new: fresh },
      repo: {
        name: site.name,
        ref: refOfBranch(base_branch),
        old,
        new: fresh,
        head,
        tree,
        diff_sha256,
        pushed: false,
        onto: onto === old ? undefined : onto,
        style,
        id: undefined,
      },
    });
  }
  return made;
}

/** What the base branch will be at: a merge, one commit with the same tree, or the branch's own tip. */
async function makeCommit(
  hands: Hands,
  task: Task,
  approvalId: string,
  { site, onto, head, tree, style }: WantedMerge,
): Promise<string> {
  if (style === "ff") return head;
  const { actor } = await hands.situation("write");
  const approved = [
    `Approved as ${approvalId} by ${actor.replace(/^human:/, "")}.`,
    `Pawl-Task: ${task.id}\nPawl-Approval: ${approvalId}\n`,
  ];
  const parents = style === "squash" ? [onto] : [onto, head];
  const said =
    style === "squash" ? await squashed(hands, task, site, onto, head) : `Merge ${task.id}: ${task.title}`;
  return (await hands.git.merges()).commit(site, {
    tree,
    parents,
    message: [said, ...approved].join("\n\n"),
  });
}

/** The one commit says what the many said; they stay with the task's saved diff. */
async function squashed(hands: Hands, task: Task, site: Site, base: string, head: string): Promise<string> {
  const { commits, total } = await (await hands.git.targets()).story(site, base, head);
  const subjects = commits.map((one) => `* ${one.subject}`);
  const more = total > commits.length ? [`* and ${total - commits.length} more`] : [];
  return [`${task.title} (${task.id})`, [...subjects, ...more].join("\n")].join("\n\n");
}

/**
 * Before it was decided everything is taken back and the record says so. After that nothing is: the journal stays, and
 * the next command completes it.
 */
async function giveUp(
  hands: Hands,
  undertaking: Undertaking,
  purpose: { task: string; approval: string; commits: string[] },
  error: unknown,
): Promise<unknown> {
  const { task, approval } = purpose;
  if (undertaking.decided()) return unfinished(task, error);
  const notes = await undertaking.undo();
  for (const note of notes) hands.say(note);
  // The number belongs to somebody else's record; ours was not written.
  if (!(error instanceof Failure && error.code === "approval_taken")) {
    const reason = error instanceof Error ? error.message : String(error);
    const trouble = [reason, ...notes].join("\n\n");
    await hands.record((reader, at) => withdrawApproval(reader, at, purpose, trouble), {
      phase: "failed",
      milestone: `${task}: not merged (${task}/${approval})`,
    });
  }
  await undertaking.close();
  return error;
}

function unfinished(task: string, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure(
    "unavailable",
    "merge_unfinished",
    `${task} is approved, but its merge did not complete: ${reason}`,
    {
      hint: "Any command that writes tries to complete it, for example: pawl approve",
      details: { task },
      cause,
    },
  );
}
