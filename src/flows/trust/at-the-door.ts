import { decidedStatement, mustSign } from "../../judge/keys.ts";
import { APPROVERS_FILE } from "../../model/approvers.ts";
import type { Decided } from "../../model/records/unlock.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { unexplained } from "../audit/accept.ts";
import { newUnlock } from "../audit/open-unlock.ts";
import { expectTerminal } from "../human-only.ts";
import { type KeyBranch, protectedKeys } from "./change-approvers.ts";
import { keysAt } from "./read-keys.ts";
import { signAll } from "./sign.ts";

interface Door {
  decided: Omit<Decided, "branches">;
  /** What is decided, as the record and its commit say it. */
  reason: string;
}

/**
 * What loosens and moves no branch, such as an uninstallation: where a protected branch wants decisions signed, a human
 * signs it before anything is done, and a record keeps the signature for every audit. Whether anybody had to is answered.
 */
export async function signAtTheDoor(
  hands: Hands,
  site: Site,
  { decided: wanted, reason }: Door,
  keyFile: string | undefined,
): Promise<boolean> {
  const branches = await signedBranches(hands, site);
  const [first] = branches;
  if (!first) return false;
  await expectTerminal(hands);
  const keys = branches.map((one) => one.keys);
  const decided = { ...wanted, branches: branches.map(({ ref, tip }) => ({ ref, tip })) };
  const level = keys.some((one) => one.level === "present") ? "present" : "possession";
  const uid = (await hands.signatures()).newId();
  const statement = decidedStatement(uid, decided, keys);
  const signatures = await signAll(hands, [{ about: decided.about, statement, level }], keys, keyFile);
  await hands.record(
    (reader, at) =>
      newUnlock(reader, at, {
        ref: first.ref,
        tip: first.tip,
        until: at.now,
        reason,
        repo: site.name,
        uid,
        signatures,
        status: "closed",
        closed: at.now,
        decided,
      }),
    { milestone: reason },
  );
  return true;
}

export const mustSignAtTheDoor = async (hands: Hands, site: Site) =>
  (await signedBranches(hands, site)).length > 0;

/**
 * The protected branches that want decisions signed. One that lost its policy by commits that nothing explains wants what it
 * wanted before them: nobody gets rid of the question by taking the policy away.
 */
async function signedBranches(hands: Hands, site: Site): Promise<KeyBranch[]> {
  const audits = await hands.git.audits();
  const found: KeyBranch[] = [];
  for (const one of await protectedKeys(hands, site)) {
    const { ref, tip } = one;
    if (mustSign(one.keys)) found.push(one);
    else if ((await audits.changing(site, { tip, without: [] }, [APPROVERS_FILE])).length > 0) {
      const oldest = (await unexplained(hands, site, ref, false)).at(-1)?.commit.parents[0];
      const keys = oldest === undefined ? undefined : await keysAt(hands, site, oldest);
      if (oldest !== undefined && keys && mustSign(keys)) found.push({ ...one, tip: oldest, keys });
    }
  }
  return found;
}
