import { type Keys, mustSign, neededFor } from "../../judge/keys.ts";
import { atLeast, type Level } from "../../model/approvers.ts";
import { Failure } from "../../model/failure.ts";
import type { RecordSignature } from "../../model/records/signed.ts";
import { approvalStatement } from "../../model/statement.ts";
import type { Hands } from "../../ports/hands.ts";
import { keysInForce } from "../audit/older-keys.ts";
import { keysAt } from "../trust/read-keys.ts";
import { signAll, type ToSign } from "../trust/sign.ts";
import type { Approved, MadeMerges } from "./approve-merge.ts";
import type { ApprovalRepo } from "./approve-records.ts";

/** The merges as the approval's record states them: signed where that is required, unchanged elsewhere. */
export interface SignedMerges {
  repos: ApprovalRepo[];
  uid: string | undefined;
  signatures: RecordSignature[];
  /** The page asked, and somebody typed the answer on the terminal. */
  fromPage: boolean;
}

/** Each repository is judged by its own keys and policy, as they were before the merge; one signature is about all. */
export async function signMerges(
  hands: Hands,
  { merges, receipt }: Approved,
  made: MadeMerges,
  keyFile: string | undefined,
): Promise<SignedMerges> {
  const found: { repo: ApprovalRepo; before: Keys; after: Keys }[] = [];
  for (const [index, { repo }] of made.repos.entries()) {
    const site = merges[index]?.site;
    if (!site) throw new Error("a merge that nobody requested");
    const before = await keysInForce(hands, site, repo.ref, repo.onto ?? repo.old);
    const after = await keysAt(hands, site, repo.new);
    found.push({ repo: { ...repo, id: before.id || undefined }, before, after });
  }
  const repos = found.map((one) => one.repo);
  const signing = found.filter((one) => mustSign(one.before));
  const { demanded, fromPage, newId } = await hands.signatures();
  if (demanded && signing.length < found.length) throw onTheTerminal();
  if (signing.length === 0) return { repos, uid: undefined, signatures: [], fromPage };
  const uid = newId();
  const approval = approvalStatement({ uid, receipt, repos });
  const level = highest(signing.map((one) => one.before.level));
  const keys = signing.map((one) => one.before);
  const signatures = await signAll(hands, [{ about: "approval", statement: approval, level }], keys, keyFile);
  for (const { repo, before, after } of signing) {
    const move = { ref: repo.ref, old: repo.onto ?? repo.old, new: repo.new, uid, approval };
    const others = neededFor(move, before, after).filter((one) => one.about !== "approval");
    const own = others.map((one): ToSign => ({ ...one, repo: repo.name }));
    signatures.push(...(await signAll(hands, own, [before], keyFile)));
  }
  return { repos, uid, signatures, fromPage };
}

function onTheTerminal(): Failure {
  return new Failure(
    "refused",
    "not_signed",
    "The policy does not require a signature here, so a key alone cannot approve it.",
    {
      hint: "Nothing was merged. Answer on the terminal that runs pawl ui, or set this in the policy: approvals: signed",
    },
  );
}

export const highest = (levels: readonly Level[]): Level =>
  levels.some((one) => atLeast(one, "present")) ? "present" : "possession";
