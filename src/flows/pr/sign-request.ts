import { mustSign } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import type { Approval } from "../../model/records/run.ts";
import { howOf, type RecordSignature } from "../../model/records/signed.ts";
import { requestStatement } from "../../model/statement.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { confirm } from "../approve/approve-ask.ts";
import { type Candidate, lookForApproval } from "../approve/approve-candidate.ts";
import { showDiff, wholeDiff } from "../approve/approve-diff.ts";
import { checkSame, checkTrees, recheck } from "../approve/approve-recheck.ts";
import { type ApprovalRepo, addApproval } from "../approve/approve-records.ts";
import { short, showCandidate } from "../approve/approve-show.ts";
import { highest } from "../approve/approve-sign.ts";
import { signAll } from "../trust/sign.ts";

/** Through the same door as an approval, but the host makes the commit: what is signed is what it is to merge. */
export async function signRequest(hands: Hands, id: string, keyFile: string | undefined): Promise<Approval> {
  const shown = await lookForRequest(hands, id);
  await checkTrees(hands, shown);
  const passed = await recheck(hands, shown);
  await showCandidate(hands, shown);
  await showDiff(hands, shown, false);
  for (const line of passed) hands.say(`Run again before it is signed: ${line}`);
  const bases = [...new Set(shown.repos.map((one) => one.base_branch))].join(", ");
  const command = `pawl pr ${id} --sign`;
  const question = `Type ${id} to sign the request to merge it into ${bases}: `;
  await confirm(hands, id, question, `nothing was signed or pushed. To go on: ${command}`, () =>
    hands.page(wholeDiff(hands, shown)),
  );
  checkSame(shown, await lookForRequest(hands, id), command);
  const repos = await reposOf(hands, shown);
  const uid = (await hands.signatures()).newId();
  const statement = requestStatement({ uid, receipt: shown.receipt, repos });
  const keys = shown.repos.map((one) => one.keys.before).filter(mustSign);
  const level = highest(keys.map((one) => one.level));
  const signatures = await signAll(hands, [{ about: "request", statement, level }], keys, keyFile);
  checkSame(shown, await lookForRequest(hands, id), command);
  const summary = [summaryOf(shown), ...passed].join("\n");
  const made = { task: id, receipt: shown.receipt, repos, uid, signatures, summary };
  return (
    await hands.record((reader, at) => keepRequest(reader, at, made), { milestone: `${id}: request signed` })
  ).data;
}

/** Refuses what no signature of a request could explain. */
export async function lookForRequest(hands: Hands, id: string): Promise<Candidate> {
  const found = await lookForApproval(hands, id, {
    fetch: false,
    push: true,
    style: "merge",
    elsewhere: true,
  });
  const signing = found.repos.filter((one) => mustSign(one.keys.before));
  if (signing.length === 0)
    throw new Failure("refused", "nobody_signs", `The policy requires no signature for ${id}.`, {
      hint: `Make the request without a signature: pawl pr ${id}`,
      details: { task: id },
    });
  const loosening = signing.find(({ keys }) => keys.before.digests.policy !== keys.after.digests.policy);
  if (!loosening) return found;
  throw new Failure(
    "refused",
    "policy_changed",
    `${id} changes ${POLICY_FILE} of ${loosening.name}. Such a change is signed together with its merge commit, and a pull request has none yet.`,
    { hint: `A human merges it here: pawl approve ${id}`, details: { task: id, repo: loosening.name } },
  );
}

async function reposOf(hands: Hands, { repos }: Candidate): Promise<ApprovalRepo[]> {
  const merges = await hands.git.merges();
  const found: ApprovalRepo[] = [];
  for (const { site, name, base_branch, base, head, tree, keys } of repos)
    found.push({
      name,
      ref: refOfBranch(base_branch),
      old: base,
      new: head,
      head,
      tree,
      diff_sha256: await merges.diffDigest(site, base, head),
      pushed: false,
      onto: undefined,
      style: "merge",
      id: keys.before.id || undefined,
    });
  return found;
}

const summaryOf = ({ task, repos }: Candidate) =>
  [
    `${task.title}\n`,
    ...repos.map(
      (one) => `- ${one.name}: a host may merge ${one.branch} at ${short(one.head)} into ${one.base_branch}`,
    ),
  ].join("\n");

interface SignedRequest extends Pick<Approval, "receipt" | "repos" | "summary"> {
  task: string;
  uid: string;
  signatures: RecordSignature[];
}

function keepRequest(reader: Reader, at: Situation, { task, ...signed }: SignedRequest): Plan<Approval> {
  const how = howOf(task, signed.signatures);
  const given = { ...signed, status: "requested", how, redo_of: undefined } as const;
  const heads = signed.repos.map((one) => `${one.name} ${short(one.head)}`);
  return addApproval(reader, at, task, given, `request signed: ${heads.join(", ")}`);
}
