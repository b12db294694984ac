import { type Keys, mustSign, strictest } from "../../judge/keys.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { keysAt, keyTextsAt } from "../trust/read-keys.ts";
import { findRecord } from "./baseline.ts";
import { readLedger, withHistory } from "./ledger.ts";
import { neighboursOf } from "./neighbours.ts";
import { recordedRefs } from "./one-baseline.ts";
import type { Subject } from "./subject.ts";
import { subjectHere } from "./subject-here.ts";

/** The tips of older branches, here and on trusted remotes. */
export async function olderTips(
  audits: Audits,
  { site, manner, remotes, ...subject }: Subject,
  older: readonly BranchTip[],
): Promise<{ ref: string; tip: string }[]> {
  const found = older.map(({ ref, tip }) => ({ ref, tip }));
  if (manner.view !== "here") return found;
  // An older branch that does not exist here may still be known from a remote.
  const refs = new Set([
    ...older.map((one) => one.ref),
    ...(older.length === 0 ? recordedRefs(subject) : []),
  ]);
  for (const { name } of remotes.filter((one) => one.standing === "trusted"))
    for (const ref of refs) {
      const tip = await audits.resolve(site, ref.replace(/^refs\/heads\//, `refs/remotes/${name}/`));
      if (tip !== undefined) found.push({ ref, tip });
    }
  return found;
}

/**
 * The keys and the policy of an older branch that requires signatures. A later branch demands no less,
 * whatever the commit it starts from says: anybody can start one where nobody had to sign yet.
 */
export async function olderKeys(
  audits: Audits,
  subject: Subject,
  ref: string,
  older: readonly BranchTip[],
): Promise<Keys | undefined> {
  if (older.some((one) => one.ref === ref)) return undefined;
  for (const { tip } of await olderTips(audits, subject, older)) {
    const keys = await subject.readKeys(await keyTextsAt(audits, subject.site, tip));
    if (mustSign(keys)) return keys;
  }
  return undefined;
}

/** Who may decide about the branch after this commit, by the same rules as an audit. */
export async function keysInForce(hands: Hands, site: Site, ref: string, commit: string): Promise<Keys> {
  const own = await keysAt(hands, site, commit);
  const record = await hands.look((reader) => findRecord(reader, site)?.value);
  if (!record?.baseline.some((one) => one.ref !== ref)) return own;
  const here = await hands.look((reader) => readLedger(reader));
  const audits = await hands.git.audits();
  const subject = await subjectHere(hands, site, await withHistory(hands, site, here), false);
  const { older } = await neighboursOf(audits, subject, await audits.branching(site, "own"));
  return strictest(own, await olderKeys(audits, subject, ref, older));
}
