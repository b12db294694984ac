import { enrolled, type Keys, mustSign, strictest } from "../../judge/keys.ts";
import { APPROVERS_FILE } from "../../model/approvers.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import type { CommitFact } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import { type KeyTexts, keyTextsAt, NO_TEXTS } from "../trust/read-keys.ts";
import type { Chain, Subject } from "./subject.ts";

/** Who could decide at each commit of a branch: judged by that commit's tree, never by anything later. */
export interface KeysLine {
  at(commit: string | undefined): Promise<Keys>;
  /** The same; undefined for a commit that this clone does not have. */
  ifThere(commit: string): Promise<Keys | undefined>;
  /** Who can decide now. */
  now(): Promise<Keys>;
  /** Whether the branch had keys before this commit, so that the commit has to be signed with one of them. */
  needsSignature(commit: CommitFact): Promise<boolean>;
}

/** The policy and the approvers rarely change, so git is asked once which commits changed them. */
export async function keysLine(audits: Audits, subject: Subject, chain: Chain): Promise<KeysLine> {
  const { site } = subject;
  const changed = new Set(await audits.changing(site, chain, [POLICY_FILE, APPROVERS_FILE]));
  const meanings = new Map<string, Promise<Keys>>();
  const meaning = (texts: KeyTexts) => {
    const name = JSON.stringify([texts.policy, texts.approvers]);
    const known = meanings.get(name) ?? subject.readKeys(texts).then((own) => strictest(own, subject.older));
    meanings.set(name, known);
    return known;
  };
  const read = async (commit: string) => meaning(await keyTextsAt(audits, site, commit));
  const known = new Map<string, Promise<Keys | undefined>>();
  const bottom = chain.commits.at(-1)?.parents[0];
  let current = bottom === undefined ? meaning(NO_TEXTS) : read(bottom);
  if (bottom !== undefined) known.set(bottom, current);
  for (const { id } of chain.commits.toReversed()) {
    if (changed.has(id)) current = read(id);
    known.set(id, current);
  }
  const ifThere = (commit: string): Promise<Keys | undefined> => {
    const look = async () => ((await audits.resolve(site, commit)) === undefined ? undefined : read(commit));
    const found = known.get(commit) ?? look();
    known.set(commit, found);
    return found;
  };
  const at = async (commit: string | undefined): Promise<Keys> =>
    (commit === undefined ? undefined : await ifThere(commit)) ?? meaning(NO_TEXTS);
  return {
    at,
    ifThere,
    now: () => at(chain.tip),
    async needsSignature({ id, parents }) {
      const before = await at(parents[0]);
      if (mustSign(before)) return true;
      return enrolled(before) && (await at(id)).digests.approvers !== before.digests.approvers;
    },
  };
}
