import { checksOf, judgeMove, type Keys, type Move, type Signed } from "../../judge/keys.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import { approvalStatement } from "../../model/statement.ts";
import type { ApprovedMerge, CommitFact } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { howOf } from "../trust/sign.ts";
import type { KeysLine } from "./keys-line.ts";
import { mergesOf } from "./ledger.ts";
import type { Subject } from "./subject.ts";

/** The approvals of a branch, each with whose signature it has, or why it explains nothing. */
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
    const [before, after] = [await line.at(old), await line.at(merge.new)];
    // Whatever the record says of this repository's own name: it has to be the one that the branch knows.
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

/** What a fast-forward let in: a straight line from where the branch was, on which nobody else was made an approver, and no third policy held. */
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

/** What unlocks explain, and what they would if they were signed. */
export interface UnlockedCommits {
  unlocked: Map<string, string>;
  /** Why a commit that an unlock names is not explained by it. */
  rejected: Map<string, string>;
  /** The moves of those that count. */
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
    const [before, after] = [await line.at(move.old), await line.at(move.new)];
    const signed = judgeMove(move, before, after, subject.checkSignature);
    if (signed.ok) found.moves.push(...one.moves);
    // A signature is about where the branch began and where it ended, and about nothing that stands in between.
    for (const each of signed.ok && signed.by === undefined ? one.moves : [move]) {
      const told = { old: each.old, new: each.new, seen: "log" as const, time: one.created, message: "" };
      const { brought } = await audits.follow(subject.site, told, without);
      for (const commit of brought) await sortIn(found, line, one.id, commit, signed);
    }
  }
  return found;
}

/** A record that nobody signed explains no commit that needs a signature, however early it began. */
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

/** All moves of an unlock as the one that is signed when it is closed; undefined where nothing moved. */
export function wholeMove({ ref, uid = "", signatures, moves }: Unlock): Move | undefined {
  const [first, last] = [moves[0], moves.at(-1)];
  if (!first || !last) return undefined;
  return { ref, old: first.old, new: last.new, uid, signatures, approval: undefined };
}
