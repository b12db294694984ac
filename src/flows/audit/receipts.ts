import type { Finding } from "../../judge/audit/judge.ts";
import { isAppendOnly } from "../../judge/gates/integrity.ts";
import { receiptFile } from "../../model/paths.ts";
import { type Approval, type Receipt, receiptText } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Ledger } from "./ledger.ts";

/**
 * What a human signed is bound to the receipt, and by it to the evidence and the reviews. Nobody writes any of these
 * after the merge: what is not what the signature is about was changed since, whatever the events say.
 */
export async function alteredReceipts({ sha256 }: Pick<Hands, "sha256">, ledger: Ledger): Promise<Finding[]> {
  const last = new Map<string, Approval>();
  for (const one of ledger.approvals)
    if (one.status === "merged" && one.signatures.length > 0) last.set(taskOf(one), one);
  if (last.size === 0) return [];
  const basis = ledger.basis();
  const receipts = new Map(basis.receipts.map((one) => [taskOf(one), one]));
  const found: Finding[] = [];
  for (const [task, approval] of last) {
    const receipt = receipts.get(task);
    const tell = (where: string, message: string) =>
      found.push({ code: "receipt_altered", repo: "pawl/state", where, message });
    if (!receipt || (await digestOf(sha256, receipt)) !== approval.receipt) {
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

const taskOf = ({ id }: { id: string }) => id.replace(/\/.*$/, "");

const digestOf = (sha256: Hands["sha256"], receipt: Receipt) => sha256(receiptText(receipt));
