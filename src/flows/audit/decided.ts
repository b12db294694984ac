import type { Finding } from "../../judge/audit/judge.ts";
import { judgeDecided } from "../../judge/keys.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type { SignedBy } from "../../model/signature.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import type { Subject } from "./subject.ts";

/** What a human decided with a key without moving a branch. */
export interface DecidedAtTheDoor {
  record: string;
  what: string;
  by: SignedBy | undefined;
}

export interface DecidedRecords {
  decided: DecidedAtTheDoor[];
  findings: Finding[];
  notes: string[];
}

/**
 * Checks every such decision of a repository against the keys that its branches had at the commits it names.
 */
export async function auditDecided(
  audits: Audits,
  subject: Subject,
  branches: readonly BranchTip[],
): Promise<DecidedRecords> {
  const done: DecidedRecords = { decided: [], findings: [], notes: [] };
  for (const one of subject.ledger.unlocks) {
    if (one.decided === undefined || !subject.names.has(one.repo ?? "")) continue;
    const keys = await keysOf(audits, subject, one.decided.branches, branches);
    if (!keys) {
      done.notes.push(
        `${one.id} was signed on a commit that is not published here, so it cannot be checked.`,
      );
      continue;
    }
    const signed = judgeDecided({ ...one, decided: one.decided }, keys, subject.checkSignature);
    if (signed.ok) done.decided.push({ record: one.id, what: one.reason, by: signed.by });
    else done.findings.push(notSigned(subject, one, signed.why));
  }
  return done;
}

/** The keys at each of these commits; undefined if one of them is not on its branch, or not yet. */
async function keysOf(
  audits: Audits,
  { site, readKeys }: Subject,
  named: readonly { ref: string; tip: string }[],
  branches: readonly BranchTip[],
) {
  const keys = [];
  for (const { ref, tip } of named) {
    const branch = branches.find((one) => one.ref === ref);
    if (!branch || !(await audits.contains(site, branch.tip, tip))) return undefined;
    keys.push(await readKeys(await keyTextsAt(audits, site, tip)));
  }
  return keys;
}

const notSigned = ({ site }: Subject, { id, reason }: Unlock, why: string): Finding => ({
  code: "decision_not_signed",
  repo: site.name,
  where: id,
  message: `"${reason}" counts for nothing: ${why}.`,
});
