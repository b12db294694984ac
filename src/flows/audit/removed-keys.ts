import type { Finding } from "../../judge/audit/judge.ts";
import { judgeMove, type Keys } from "../../judge/keys.ts";
import { APPROVERS_FILE } from "../../model/approvers.ts";
import { branchOfRef } from "../../model/naming.ts";
import { quoted } from "../../model/text.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import type { CheckSignature } from "../../ports/signatures.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { wholeMove } from "./signed-records.ts";
import type { Subject } from "./subject.ts";

/** A key that a protected branch once listed and no longer lists. */
interface RemovedKey {
  public: string;
  key: string;
  /** The branch, and the commit that removed the key. */
  ref: string;
  commit: string;
}

/** Keys that older branches have removed; a later branch has no say in who may decide elsewhere. */
async function removedElsewhere(
  audits: Audits,
  subject: Subject,
  ref: string,
  older: readonly BranchTip[],
): Promise<RemovedKey[]> {
  const found: RemovedKey[] = [];
  for (const other of older) if (other.ref !== ref) found.push(...(await removedOn(audits, subject, other)));
  return found;
}

async function removedOn(audits: Audits, subject: Subject, { ref, tip }: BranchTip): Promise<RemovedKey[]> {
  const changes = await audits.changing(subject.site, { tip, without: [] }, [APPROVERS_FILE]);
  const lists: Keys[] = [];
  for (const one of changes) lists.push(await subject.readKeys(await keyTextsAt(audits, subject.site, one)));
  const now = lists[0]?.approvers ?? [];
  if (now.length === 0) return [];
  const found = new Map<string, RemovedKey>();
  for (const [index, { approvers }] of lists.entries())
    for (const { public: text, key } of approvers)
      if (!now.some((one) => one.public === text) && !found.has(text))
        found.set(text, { public: text, key, ref, commit: changes[index - 1] ?? tip });
  return [...found.values()];
}

/** A branch that still lists a key which an older branch has removed: the removal never reached it. */
export async function removedButListed(
  audits: Audits,
  subject: Subject,
  { ref, tip }: Pick<BranchTip, "ref" | "tip">,
  older: readonly BranchTip[],
): Promise<Finding[]> {
  const removed = await removedElsewhere(audits, subject, ref, older);
  if (removed.length === 0) return [];
  const { approvers } = await subject.readKeys(await keyTextsAt(audits, subject.site, tip));
  const found = removed.filter((one) => approvers.some((each) => each.public === one.public));
  return found.map((one) => ({
    code: "removed_key",
    repo: subject.site.name,
    where: branchOfRef(ref),
    message: `${branchOfRef(ref)} still lists the key ${one.key}, which ${branchOfRef(one.ref)} has removed. Remove it there too: pawl approver remove ${quoted(one.key)}`,
  }));
}

/**
 * Keys that an older branch has removed count for nothing on a later branch, even if its files still list
 * them: whoever holds such a key could create the branch at a commit from before the removal. What a key
 * signed earlier stays valid if the same removal landed here too: under the same uid, signed by a key that
 * remains.
 */
export async function withoutRemoved(
  audits: Audits,
  subject: Subject,
  ref: string,
  line: ReadonlyMap<string, number>,
  older: readonly BranchTip[],
): Promise<CheckSignature> {
  const removed = await removedElsewhere(audits, subject, ref, older);
  const check = refusing(subject.checkSignature, removed);
  const left: RemovedKey[] = [];
  for (const one of removed)
    if (!(await landedHere(audits, { ...subject, checkSignature: check }, ref, line, one))) left.push(one);
  return refusing(subject.checkSignature, left);
}

const refusing =
  (check: CheckSignature, removed: readonly RemovedKey[]): CheckSignature =>
  (statement, signature, approvers, level) => {
    const verdict = check(statement, signature, approvers, level);
    const signer = verdict.ok ? approvers.find((one) => one.key === verdict.key)?.public : undefined;
    const gone = removed.find((one) => one.public === signer);
    if (!gone) return verdict;
    return {
      ok: false,
      code: "unknown_key",
      why: `${branchOfRef(gone.ref)} has removed the key ${gone.key}`,
    };
  };

async function landedHere(
  audits: Audits,
  { site, ledger, names, readKeys, checkSignature }: Subject,
  ref: string,
  line: ReadonlyMap<string, number>,
  removed: RemovedKey,
): Promise<boolean> {
  const closed = ledger.unlocks.filter((one) => names.has(one.repo ?? "") && one.status === "closed");
  const there = closed.find(
    (one) => one.ref === removed.ref && wholeMove(one)?.new === removed.commit && one.uid !== undefined,
  );
  for (const one of closed.filter((each) => each.ref === ref && there && each.uid === there.uid)) {
    const move = wholeMove(one);
    if (!move || !line.has(move.new)) continue;
    const keysAt = async (commit: string) => readKeys(await keyTextsAt(audits, site, commit));
    const [before, after] = [await keysAt(move.old), await keysAt(move.new)];
    const lists = ({ approvers }: Keys) => approvers.some((each) => each.public === removed.public);
    const signed = judgeMove(move, before, after, checkSignature);
    if (lists(before) && !lists(after) && signed.ok && signed.by) return true;
  }
  return false;
}
