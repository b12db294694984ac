import * as z from "zod/mini";
import { auditPush, type PushedRef, type RefusedPush } from "../flows/audit/audit-push.ts";
import { notOurs, readLedger, withHistory } from "../flows/audit/ledger.ts";
import { subjectHere } from "../flows/audit/subject-here.ts";
import { redoCommand } from "../judge/unpublished.ts";
import { Failure } from "../model/failure.ts";
import { maybe, raw } from "../model/input.ts";
import { branchOfRef } from "../model/naming.ts";
import type { Problem } from "../model/record.ts";
import { procedure } from "./operation.ts";

export const hookPrePush = procedure({
  id: "hook.pre-push",
  summary: "Refuse to push unexplained commits to a protected branch",
  details: "The pre-push hook calls this with the lines that git gave it.",
  examples: ["pawl hook pre-push --updates - --remote origin"],
  internal: true,
  access: "read",
  cli: { files: ["updates"] },
  input: z.strictObject({
    updates: raw("the lines that git gave the hook", "FILE"),
    remote: maybe(raw("where the push goes", "NAME")),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const site = (await hands.git.sites()).here();
    const ledger = await withHistory(hands, site, await hands.look((reader) => readLedger(reader)));
    const [problem] = ledger.problems;
    // A record that cannot be read might be the one that closes what another one opened.
    if (problem) throw cannotTell(problem);
    // A record that is gone explains nothing, so the push is refused anyway.
    const forged = (await notOurs(hands, ledger)).find(({ why }) => why !== "missing");
    if (forged) throw handWritten(forged.path);
    const subject = await subjectHere(hands, site, ledger, true);
    const [first] = await auditPush(hands, subject, readUpdates(input.updates));
    const open = ledger.unlocks.find((one) => one.status === "open" && one.ref === first?.ref);
    if (first) throw refusal(first, open?.id);
    return { data: {} };
  },

  text: () => "",
});

function readUpdates(text: string): PushedRef[] {
  return text.split("\n").flatMap((row) => {
    const [, localId, remoteRef, remoteId] = row.trim().split(" ");
    return localId && remoteRef && remoteId ? [{ localId, remoteRef, remoteId }] : [];
  });
}

const whereThatFails = (task: string | undefined) =>
  task === undefined
    ? ""
    : `\nIf git cannot fast-forward, the remote lacks the merge of ${task}, and a human has to merge it again: ${redoCommand(task)}`;

function cannotTell({ message, hint }: Problem): Failure {
  return new Failure("unreadable", "cannot_tell", `Could not tell whether it was approved: ${message}`, {
    ...(hint === undefined ? {} : { hint }),
  });
}

function handWritten(path: string): Failure {
  const message = `Could not tell whether it was approved: ${path} was written, changed or removed by hand.`;
  return new Failure("refused", "record_not_ours", message, {
    hint: "Look at it and at everything that depends on it: pawl audit",
    details: { path },
  });
}

function refusal(
  { ref, loses, commits, wrong, overtaken, perhapsOvertaken }: RefusedPush,
  open: string | undefined,
): Failure {
  const branch = branchOfRef(ref);
  const details = { ref, commits: commits.map((one) => one.commit.id) };
  if (loses === "branch")
    return new Failure("refused", "protected_push", `${branch} is protected and cannot be deleted.`, {
      hint: "Push only what was approved.",
      details,
    });
  const [newest] = commits;
  if (newest === undefined && loses === undefined && wrong)
    return new Failure("refused", wrong.code, wrong.message, { details });
  if (newest === undefined)
    return new Failure("refused", "protected_push", `${branch} is protected and can only move forward.`, {
      hint: overtaken
        ? `The remote moved before the merge of ${overtaken} was pushed. A human has to merge it again: ${redoCommand(overtaken)}`
        : `This push would remove commits from the remote. Get them first: git pull --ff-only${whereThatFails(perhapsOvertaken)}`,
      details,
    });
  const others = commits.length > 1 ? ` and ${commits.length - 1} more` : "";
  const what = `${newest.commit.id.slice(0, 10)} "${newest.commit.subject}"`;
  const contradicted = newest.reason === "no_approval" ? "" : ` ${newest.message}`;
  return new Failure(
    "refused",
    "protected_push",
    `${branch} is protected, and nobody approved ${what}${others}.${contradicted}`,
    {
      hint:
        open !== undefined && contradicted.includes(open)
          ? `What is done while ${branch} is unlocked counts once it is signed at the end. Close it, then push: pawl unlock ${branch} --end`
          : "A human publishes a task's work with: pawl approve --push",
      details,
    },
  );
}
