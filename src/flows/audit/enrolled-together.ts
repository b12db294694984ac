import { judgeMove, type Keys } from "../../judge/keys.ts";
import { APPROVERS_FILE } from "../../model/approvers.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { wholeMove } from "./signed-records.ts";
import type { Subject } from "./subject.ts";

/**
 * Where a branch from before the first key stood when that key was enrolled. The same key signed this
 * enrolment under the same uid as the one on the older branch, so whatever lies below was there at that time.
 */
export async function enrolledTogether(
  audits: Audits,
  subject: Subject,
  ref: string,
  line: ReadonlyMap<string, number>,
  others: readonly Pick<BranchTip, "ref" | "tip">[],
): Promise<string | undefined> {
  const { site, ledger, names, readKeys, checkSignature } = subject;
  const closed = ledger.unlocks.filter((one) => names.has(one.repo ?? "") && one.status === "closed");
  const mine = closed.filter((one) => one.ref === ref && one.uid !== undefined);
  if (mine.length === 0) return undefined;
  const keysAt = async (commit: string) => readKeys(await keyTextsAt(audits, site, commit));
  for (const older of others) {
    const chain = { tip: older.tip, without: [] };
    const root = (await audits.changing(site, chain, [APPROVERS_FILE])).at(-1);
    const there = closed.find((one) => one.ref === older.ref && wholeMove(one)?.new === root);
    for (const one of mine.filter((each) => each.uid === there?.uid)) {
      const move = wholeMove(one);
      if (root === undefined || !move || !line.has(move.new)) continue;
      const before: Keys = { ...(await keysAt(root)), digests: (await keysAt(move.old)).digests };
      const signed = judgeMove(move, before, await keysAt(move.new), checkSignature);
      if (signed.ok && signed.by) return move.old;
    }
  }
  return undefined;
}
