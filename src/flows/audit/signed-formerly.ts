import { judgeMove } from "../../judge/keys.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type { ApprovedMerge } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { KeysLine } from "./keys-line.ts";
import { signedMerges, wholeMove } from "./signed-records.ts";
import type { Subject } from "./subject.ts";

/** What let commits into a branch. */
interface Given {
  approvals: ApprovedMerge[];
  unlocks: Unlock[];
}

/**
 * Adds what the records no longer say, as far as a key signed it: anybody can put a version that nobody signed into the
 * history.
 */
export async function withFormerly(
  audits: Audits,
  subject: Subject,
  line: KeysLine,
  ref: string,
  given: Given,
): Promise<Given> {
  const { ledger, names, checkSignature } = subject;
  const { formerly } = ledger;
  const then = { ...subject, ledger: { ...ledger, approvals: formerly.approvals } };
  const approvals = await signedMerges(audits, then, line, ref);
  const unlocks: Unlock[] = [];
  for (const one of formerly.unlocks) {
    const move = one.ref === ref && names.has(one.repo ?? "") ? wholeMove(one) : undefined;
    if (!move) continue;
    const before = await line.at(move.old);
    const judged = judgeMove(move, before, (await line.ifThere(move.new)) ?? before, checkSignature);
    if (judged.ok && judged.by) unlocks.push(one);
  }
  return {
    approvals: [...given.approvals, ...approvals.filter((one) => one.signed !== undefined)],
    unlocks: [...given.unlocks, ...unlocks],
  };
}
