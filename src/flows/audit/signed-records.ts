import { checksOf, judgeMove, type Keys, type Move, type Signed } from "../../judge/keys.ts";
import { howOf } from "../../model/records/signed.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import { approvalStatement } from "../../model/statement.ts";
import type { ApprovedMerge, CommitFact } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import type { KeysLine } from "./keys-line.ts";
import { mergesOf } from "./ledger.ts";
import type { Subject } from "./subject.ts";

/** The approvals of a branch, each with its signer, or with the reason why it explains nothing. */
export async function signedMerges(
  audits: Audits,
  { site, ledger, names, checkSignature, checkAhead }: Subject,
  line: KeysLine,
  ref: string | undefined,
): Promise<ApprovedMerge[]> {
  const all: { merge: ApprovedMerge; told?: [Move, Keys, Keys] }[] = [];
  for (const merge of mergesOf(ledger, names, ref)) {
    if (merge.status !== "merged") {
      all.push({ merge });
      continue;
    }
    const old = merge.onto ?? merge.old;
    // A merge that was taken out of the branch is not fetched. What it changed cannot be read then, and it
    // explains nothing that is here, but the branch has to answer for losing it if its approval is signed.
    const before = (await line.ifThere(old)) ?? (await line.now());
    const after = (await line.ifThere(merge.new)) ?? before;
    // The record may claim any id for this repository, so the statement uses the one that the branch knows.
    const { uid = "", receipt, repos } = merge.record;
    const own = (one: (typeof repos)[number]) => names.has(one.name) && one.ref === merge.ref;
    const approval = approvalStatement({
      uid,
      receipt,
      repos: repos.map((one) => (own(one) ? { ...one, id: before.id } : one)),
    });
    const { signatures } = merge.record;
    const mine = signatures.filter((one) => one.repo === undefined || names.has(one.repo));
    const move = { ref: merge.ref, old, new: merge.new, uid, signatures: mine, approval };
    all.push({ merge, told: [move, before, after] });
  }
  await checkAhead(all.flatMap(({ told }) => (told ? checksOf(...told) : [])));
  const judged: ApprovedMerge[] = [];
  for (const { merge, told } of all)
    judged.push({
      ...merge,
      ...(told && merge.style === "ff" ? await broughtBy(audits, site, line, merge) : {}),
      ...(told ? outcome(judgeMove(...told, checkSignature), merge.record) : {}),
    });
  return judged;
}

/**
 * What a fast-forward let in: a straight line from where the branch was. The approvers must not change along
 * it, and every commit has to have either the old policy or the new one.
 */
async function broughtBy(
  audits: Audits,
  site: Site,
  line: KeysLine,
  { old, new: fresh }: ApprovedMerge,
): Promise<Pick<ApprovedMerge, "brought">> {
  if ((await audits.resolve(site, fresh)) === undefined) return {};
  const brought = await audits.history(site, { tip: fresh, without: [old] });
  if (brought.at(-1)?.parents[0] !== old) return {};
  const [was, is] = [(await line.at(old)).digests, (await line.at(fresh)).digests];
  for (const { id } of brought) {
    const { approvers, policy } = (await line.at(id)).digests;
    if (approvers !== was.approvers || ![was.policy, is.policy].includes(policy)) return {};
  }
  return { brought };
}

function outcome(
  signed: Signed,
  { how, signatures }: ApprovedMerge["record"],
): Pick<ApprovedMerge, "signed" | "distrust"> {
  if (!signed.ok) return { distrust: signed.why };
  if (!signed.by) return {};
  return how === howOf("", signatures)
    ? { signed: signed.by }
    : { distrust: `it says "${how}", and ${signed.by.name} signed it with ${signed.by.key}` };
}

/** What unlocks explain, and what they would explain if they were signed. */
export interface UnlockedCommits {
  unlocked: Map<string, string>;
  /** Why an unlock that covers a commit does not explain it. */
  rejected: Map<string, string>;
  /** The moves of the unlocks that count. */
  moves: Unlock["moves"];
}

export async function unlockedCommits(
  audits: Audits,
  subject: Subject,
  line: KeysLine,
  unlocks: readonly Unlock[],
  without: readonly string[],
): Promise<UnlockedCommits> {
  const found: UnlockedCommits = { unlocked: new Map(), rejected: new Map(), moves: [] };
  for (const one of unlocks) {
    const move = wholeMove(one);
    if (!move) continue;
    const after = await line.at(move.new);
    // What an unlock took out of the branch is not fetched. A record with such a beginning needs a key all the same,
    // or anybody could write one that excuses what the branch has lost.
    const before = (await line.ifThere(move.old)) ?? after;
    const signed = judgeMove(move, before, after, subject.checkSignature);
    if (signed.ok) found.moves.push(...one.moves);
    // A signature covers only where the branch began and where it ended, so the moves in between are not
    // taken one by one.
    for (const each of signed.ok && signed.by === undefined ? one.moves : [move]) {
      const told = { old: each.old, new: each.new, seen: "log" as const, time: one.created, message: "" };
      const { brought } = await audits.follow(subject.site, told, without);
      for (const commit of brought) await sortIn(found, line, one.id, commit, signed);
    }
  }
  return found;
}

/** An unsigned record never explains a commit that needs a signature, however early the record began. */
async function sortIn(
  { unlocked, rejected }: UnlockedCommits,
  line: KeysLine,
  id: string,
  commit: CommitFact,
  signed: Signed,
): Promise<void> {
  const bare = signed.ok && signed.by === undefined && (await line.needsSignature(commit));
  if (signed.ok && !bare) unlocked.set(commit.id, id);
  else rejected.set(commit.id, `${id} covers it, but ${signed.ok ? "it is not signed" : signed.why}.`);
}

/** All moves of an unlock as the single one that is signed at its end; undefined if nothing moved. */
export function wholeMove({ ref, uid = "", signatures, moves }: Unlock): Move | undefined {
  const [first, last] = [moves[0], moves.at(-1)];
  if (!first || !last) return undefined;
  return { ref, old: first.old, new: last.new, uid, signatures, approval: undefined };
}
