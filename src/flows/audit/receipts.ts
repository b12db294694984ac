import type { Finding } from "../../judge/audit/judge.ts";
import { isAppendOnly } from "../../judge/gates/integrity.ts";
import { taskOf } from "../../model/ids.ts";
import { receiptFile } from "../../model/paths.ts";
import { type Approval, type Receipt, receiptText } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Ledger } from "./ledger.ts";

/**
 * A signature is bound to the receipt, and through it to the evidence and the reviews. Nobody writes these
 * after the merge, so a difference means tampering, whatever the events say. Between a signed request and the
 * host's merge a task may be checked again; then the signed receipt is in the history of the records.
 */
export async function alteredReceipts(
  { sha256 }: Pick<Hands, "sha256">,
  ledger: Ledger,
  /** Approvals whose signed request a host has merged. */
  requested: ReadonlySet<string>,
  earlier: (path: string) => Promise<Receipt[]>,
): Promise<Finding[]> {
  const last = new Map<string, Approval>();
  for (const one of ledger.approvals)
    if ((one.status === "merged" && one.signatures.length > 0) || requested.has(one.id))
      last.set(taskOf(one.id), one);
  if (last.size === 0) return [];
  const basis = ledger.basis();
  const receipts = new Map(basis.receipts.map((one) => [taskOf(one.id), one]));
  const found: Finding[] = [];
  for (const [task, approval] of last) {
    const isSigned = async (one: Receipt | undefined) =>
      one !== undefined && (await digestOf(sha256, one)) === approval.receipt;
    let receipt = receipts.get(task);
    if (approval.status === "requested" && !(await isSigned(receipt)))
      for (const one of await earlier(receiptFile(task))) if (await isSigned(one)) receipt = one;
    const tell = (where: string, message: string) =>
      found.push({ code: "receipt_altered", repo: "pawl/state", where, message });
    if (!receipt || !(await isSigned(receipt))) {
      tell(receiptFile(task), `It is not what was signed with ${approval.id}.`);
      continue;
    }
    for (const { path, sha256: signed } of receipt.proofs.filter((one) => isAppendOnly(one.path))) {
      const text = basis.proofs.get(path);
      if (text === undefined || (await sha256(text)) !== signed)
        tell(path, `It is not what ${approval.id} rests on: it was changed after that was signed.`);
    }
  }
  return found;
}

const digestOf = (sha256: Hands["sha256"], receipt: Receipt) => sha256(receiptText(receipt));
