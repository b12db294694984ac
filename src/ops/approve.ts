import * as z from "zod/mini";
import { confirm, expectHuman } from "../flows/approve/approve-ask.ts";
import {
  type Candidate,
  checkStatus,
  expectCommitter,
  lookForApproval,
} from "../flows/approve/approve-candidate.ts";
import { catchUp, findBehind } from "../flows/approve/approve-catch-up.ts";
import { showDiff, wholeDiff } from "../flows/approve/approve-diff.ts";
import { type Approved, makeMerges, mergeApproved } from "../flows/approve/approve-merge.ts";
import { howToPublish, howToPublishTask, pushApproval } from "../flows/approve/approve-push.ts";
import { checkSame, checkTrees, recheck } from "../flows/approve/approve-recheck.ts";
import type { Landed } from "../flows/approve/approve-records.ts";
import { recoverHolding, recoverMerges } from "../flows/approve/approve-recover.ts";
import { checkAgain, lookForRedo, type Redo, waitsForPush } from "../flows/approve/approve-redo.ts";
import { short, showCandidate } from "../flows/approve/approve-show.ts";
import { signMerges } from "../flows/approve/approve-sign.ts";
import { checkTask } from "../flows/check/check-task.ts";
import type { Ended } from "../flows/finish/finish-remove.ts";
import { mayMoveBase } from "../judge/gates/settled.ts";
import { mustSign } from "../judge/keys.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { choice, flag, maybe, raw, taskField } from "../model/input.ts";
import { branchOfRef } from "../model/naming.ts";
import { MERGE_STYLES, type MergeStyle } from "../model/statement.ts";
import { quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Next, Plan } from "../ports/operation.ts";
import { finishMerged } from "./finish.ts";
import { procedure } from "./operation.ts";
import { settleClose } from "./settle-close.ts";

interface Wanted {
  push?: boolean | undefined;
  finish?: boolean | undefined;
  redo?: boolean | undefined;
  diff?: boolean | undefined;
  offline?: boolean | undefined;
  sign_with?: string | undefined;
  style?: MergeStyle | undefined;
}

export const approve = procedure({
  id: "approve",
  summary: "Merge a task into its base branch, in all repositories or none (human only)",
  details:
    "First does what needs nobody's judgement: brings in what the remote has, runs required checks that are missing\nor stale, writes a handoff from the commits if nobody left one, and saves the diff. Then it shows what would\nbe merged and asks you to type the task's id; nothing skips that question. Under `approvals: signed` your ssh\nkey also signs the merge, and the key must ask for a touch unless the policy accepts less.\nIt is refused while anything of yours is in the way: edits to tracked files in a checkout of the target, files\nat paths that the merge adds, an operation in progress, a base that moved and conflicts.\n--style says how to merge: `merge` makes a merge commit, `squash` one commit with the tree that was checked,\nand `ff` fast-forwards the base to the commit that was checked, if the branch directly follows its base.\n--push publishes the result; --finish removes the worktree and ends the task. If the remote moved first,\n--redo merges again on top of it, once the checks pass there too.",
  examples: [
    "pawl approve --finish",
    "pawl approve T0001 --diff",
    "pawl approve T0001 --push --finish",
    "pawl approve T0001 --style squash",
    "pawl approve T0001 --redo --push",
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    diff: flag("show the whole diff, however long"),
    push: flag("push the base branches afterwards"),
    finish: flag("remove the worktree and end the task afterwards"),
    redo: flag("merge again on the remote's tip, after the remote moved first"),
    style: maybe(choice(MERGE_STYLES, "how to merge (default: the policy's `style`)")),
    offline: flag("do not ask the remotes whether they moved"),
    sign_with: maybe(raw("sign with this key, if the policy requires a signature", "FILE")),
  }),

  async rehearse(hands, input) {
    await expectHuman(hands);
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    if (input.redo || (input.push && (await waitsForPush(hands, id)))) {
      const { overtaken } = await lookForRedo(hands, id, { fetch: false });
      return overtaken.map((one) => ({
        do: "merge again",
        path: `${id} into ${one.base_branch} of ${one.name}`,
      }));
    }
    const options = { fetch: false, push: input.push ?? false, style: input.style };
    const { repos } = await lookForApproval(hands, id, options);
    return repos.map((one) => ({
      do: VERBS[one.style],
      path: `${one.branch} into ${one.base_branch} of ${one.name}`,
    }));
  },

  async perform(hands, input) {
    await expectHuman(hands);
    const warnings = await recoverMerges(hands);
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    const again = input.redo || (input.push && (await waitsForPush(hands, id)));
    const plan = again ? await redo(hands, id, input) : await merge(hands, id, input);
    const published = input.push ? await pushApproval(hands, id, plan.data.approval) : plan.data.approval;
    warnings.push(...(plan.warnings ?? []), ...(await howToPublish(hands, published)));
    const data: Merged = { ...plan.data, approval: published, finished: null };
    if (plan.data.task.status === "done") return { data, warnings };
    return input.finish ? end(hands, id, data, warnings) : { data, warnings, next: finishLater(id) };
  },

  text: ({ approval, task, finished }, style) =>
    [
      `${style.bold(approval.id)} ${style.green(approval.status)}: ${task.title}`,
      ...approval.repos.map(
        (one) =>
          `  ${one.name}: ${branchOfRef(one.ref)} is at ${short(one.new)}${one.pushed ? ", published" : ""}`,
      ),
      ...(finished ?? []).map((one) => `  ${one.repo}: worktree ${one.worktree}, branch ${one.branch}`),
    ].join("\n"),
});

interface Merged extends Landed {
  /** What became of the worktrees; null where the task was not ended. */
  finished: Ended[] | null;
}

/** As in "to squash it into main". */
const VERBS: Readonly<Record<MergeStyle, string>> = {
  merge: "merge",
  squash: "squash",
  ff: "bring (fast-forward)",
};

const finishLater = (id: string): Next => ({
  command: `pawl finish ${id} --remove --reason merged`,
  reason: "its worktree is no longer needed",
});

/** It is merged, so nothing that keeps the worktree from being removed is a failure of the approval. */
async function end(hands: Hands, id: string, data: Merged, warnings: string[]): Promise<Plan<Merged>> {
  const here = (await hands.git.worktrees()).here()?.path;
  try {
    const { data: ended, warnings: said = [] } = await finishMerged(hands, id);
    const gone = ended.repos.some((one) => one.worktree === "removed" && one.path === here);
    const { mainRoot, commonDir } = (await hands.git.sites()).here();
    return {
      data: { ...data, task: ended.task, finished: ended.repos },
      warnings: [...warnings, ...said],
      next: gone
        ? { command: `cd ${quoted(mainRoot ?? commonDir)}`, reason: "the folder you are in is gone" }
        : undefined,
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const why = [error.message, error.hint].filter((line) => line !== undefined).join(" ");
    return { data, warnings: [...warnings, `Merged, but not finished: ${why}`], next: finishLater(id) };
  }
}

/** What needs nobody's judgement is done before anything is shown, and before anybody is asked. */
async function settle(hands: Hands, id: string, input: Wanted): Promise<void> {
  await expectUnmerged(hands, id);
  await expectCommitter(hands, id);
  const behind = input.offline ? [] : await findBehind(hands, id);
  if (behind.length > 0 && mayMoveBase(await checkTask(hands, id, "close", { fresh: true })))
    await catchUp(hands, behind);
  for (const line of (await settleClose(hands, id, "all")).done) hands.say(line);
}

/** Who asks for a merge that was made already may be after what a kill kept from following it. */
async function expectUnmerged(hands: Hands, id: string): Promise<void> {
  try {
    checkStatus(await hands.look((reader) => reader.task(id).value));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "already_merged") throw error;
    const hint = [...(await howToPublishTask(hands, id)), error.hint].join("\n");
    throw new Failure(error.kind, error.code, error.message, { hint, details: { task: id } });
  }
}

async function merge(hands: Hands, id: string, input: Wanted): Promise<Plan<Landed>> {
  const push = input.push ?? false;
  await settle(hands, id, input);
  const shown = await lookForApproval(hands, id, { fetch: false, push, style: input.style });
  await checkTrees(hands, shown);
  const passed = await recheck(hands, shown);
  await showCandidate(hands, shown);
  await showDiff(hands, shown, input.diff ?? false);
  for (const line of passed) hands.say(`Run again by this approval: ${line}`);
  const approved = approvedOf(shown, input.offline ?? false, passed);
  const made = await makeMerges(hands, approved);
  const bases = [...new Set(shown.repos.map((one) => one.base_branch))].join(", ");
  const verb = [...new Set(shown.repos.map((one) => VERBS[one.style]))].join(" or ");
  const question = `Type ${id} to ${verb} it into ${bases}: `;
  await confirm(hands, id, question, unmerged(sameCommand(id, input)), () =>
    hands.page(wholeDiff(hands, shown)),
  );
  // A human takes minutes, and everything may have changed in them: told before a key is asked for, and again after it.
  const lookAgain = async () => {
    const now = await lookForApproval(hands, id, { fetch: false, push, style: input.style });
    checkSame(shown, now, sameCommand(id, input));
    return now;
  };
  if (shown.repos.some((one) => mustSign(one.keys.before))) await lookAgain();
  const signed = await signMerges(hands, approved, made, input.sign_with);
  return (await hands.git.merges()).exclusively(async () => {
    await recoverHolding(hands);
    const now = await lookAgain();
    return mergeApproved(hands, { ...approved, task: now.task }, made, signed);
  });
}

/** As it was given, but for what only shows more. */
function sameCommand(id: string, { redo, push, finish, offline, style, sign_with }: Wanted): string {
  const flags = { redo, push, finish, offline };
  return [
    `pawl approve ${id}`,
    ...Object.entries(flags).flatMap(([name, given]) => (given ? [`--${name}`] : [])),
    ...(style === undefined ? [] : [`--style ${style}`]),
    ...(sign_with === undefined ? [] : [`--sign-with ${quoted(sign_with)}`]),
  ].join(" ");
}

const unmerged = (command: string) => `nothing was merged. To go on: ${command}`;

const approvedOf = (shown: Candidate, offline: boolean, passed: readonly string[]): Approved => ({
  task: shown.task,
  receipt: shown.receipt,
  summary: [summaryOf(shown, offline), ...passed].join("\n"),
  redoOf: undefined,
  merges: shown.repos.map(({ site, base_branch, base, head, tree, style }) => ({
    site,
    base_branch,
    old: base,
    onto: base,
    head,
    tree,
    style,
  })),
});

function summaryOf({ task, repos }: Candidate, offline: boolean): string {
  return [
    `${task.title}\n`,
    ...repos.map(
      (one) =>
        `- ${one.name}: ${one.branch} at ${short(one.head)} into ${one.base_branch} at ${short(one.base)}`,
    ),
    ...(offline ? ["\nThe remotes were not asked whether they had moved (--offline)."] : []),
  ].join("\n");
}

async function redo(hands: Hands, id: string, input: Wanted): Promise<Plan<Landed>> {
  const found = await lookForRedo(hands, id, { fetch: !input.offline });
  const { task, last, overtaken } = found;
  if (overtaken.length === 0) {
    if (input.push) return { data: { approval: last, task } };
    throw new Failure("refused", "nothing_to_redo", `${last.id} already has everything the remote has.`, {
      hint: `pawl approve ${id} --redo --push`,
      details: { approval: last.id },
    });
  }
  for (const one of overtaken)
    hands.say(
      `${one.name}: merge ${short(one.head)} again, on ${short(one.onto)} of the remote${one.differs ? "; its checks run again" : ""}`,
    );
  const question = `Type ${id} to merge it into ${overtaken[0]?.base_branch} again: `;
  await confirm(hands, id, question, unmerged(sameCommand(id, { ...input, redo: true })));
  const passed = await checkAgain(hands, found);
  const approved: Approved = {
    task,
    receipt: last.receipt,
    summary: [`Merged again on the remote's tip, replacing ${last.id}.`, ...passed].join("\n"),
    redoOf: last.id,
    merges: overtaken,
  };
  const made = await makeMerges(hands, approved);
  const signed = await signMerges(hands, approved, made, input.sign_with);
  return (await hands.git.merges()).exclusively(async () => {
    await recoverHolding(hands);
    const now = await lookForRedo(hands, id, { fetch: false });
    checkSameRedo(found, now);
    return mergeApproved(hands, { ...approved, task: now.task }, made, signed);
  });
}

function checkSameRedo(shown: Redo, now: Redo): void {
  const print = ({ last, overtaken }: Redo) =>
    JSON.stringify([last.id, overtaken.map((one) => [one.name, one.old, one.onto, one.tree])]);
  if (print(shown) === print(now)) return;
  throw new Failure("refused", "changed_meanwhile", `${now.task.id} has changed since you were shown it.`, {
    hint: `Nothing was merged. To look again: pawl approve ${now.task.id} --redo`,
    details: { task: now.task.id },
  });
}
