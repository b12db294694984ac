import { type Keys, mustSign, type Needed, whoCouldSign } from "../../judge/keys.ts";
import { Failure } from "../../model/failure.ts";
import type { RecordSignature } from "../../model/records/signed.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { keyTextsAt, readKeys } from "./read-keys.ts";

/** Who may decide, as the tree of this commit says it. */
export async function keysAt(hands: Hands, site: Site, commit: string): Promise<Keys> {
  return readKeys(hands, await keyTextsAt(await hands.git.audits(), site, commit));
}

/** One statement to be signed; where it is about one repository of several, that one's name. */
export type ToSign = Needed & { repo?: string | undefined };

/** Has a human sign each of these, checks it by the keys of all repositories it is about, and gives what a record keeps. */
export async function signAll(
  hands: Hands,
  wanted: readonly ToSign[],
  keys: readonly Keys[],
  keyFile: string | undefined,
): Promise<RecordSignature[]> {
  const { sign, check } = await hands.signatures();
  const made: RecordSignature[] = [];
  for (const { about, statement, level, repo } of wanted) {
    const approvers = whoCouldSign(keys, level);
    if (approvers.length === 0) throw nobodyCan(keys, level);
    const touch = approvers.some((one) => one.level === "present")
      ? " Touch your key when it asks for it."
      : "";
    hands.say(`Sign ${WORDS[about]}${repo === undefined ? "" : ` of ${repo}`}.${touch}`);
    const signature = await sign({ statement, approvers, keyFile });
    const verdicts = keys.map((one) => check(statement, signature, one.approvers, level));
    const bad = verdicts.find((one) => !one.ok);
    if (bad && !bad.ok) throw notGood(bad.code, bad.why);
    const [by] = verdicts;
    if (!by?.ok) throw nobodyCan(keys, level);
    const { name, key, level: proven } = by;
    made.push({ about, repo, name, key, level: proven, ssh: undefined, passkey: undefined, ...signature });
  }
  return made;
}

const WORDS: Record<RecordSignature["about"], string> = {
  approval: "the approval",
  unlock: "that the branch is opened",
  unlocked: "what the branch has now",
  approvers: "the new list of approvers",
  policy: "the change of the policy (.pawl/config.yaml)",
};

/** How a human confirmed something, for its record. */
export const howOf = (typed: string, signatures: readonly RecordSignature[]) =>
  signatures[0]
    ? `signed by ${signatures[0].name} with ${signatures[0].key} (${signatures[0].level})`
    : `typed ${typed} on the terminal`;

/** Refused early: a policy that wants signatures, and nobody who could sign. */
export function expectSigners(keys: Keys, where: string): void {
  if (!keys.signed || (mustSign(keys) && !keys.broken)) return;
  if (keys.broken)
    throw new Failure("unreadable", "broken_approvers", `The approvers on ${where} cannot be read.`, {
      hint: "Nobody can sign until they can. How to begin again: docs/approve.md",
    });
  throw new Failure(
    "refused",
    "no_approvers",
    `The policy of ${where} wants signatures, and nobody has a key.`,
    {
      hint: 'Enrol one first: pawl approver add --name "Your Name" --ssh ~/.ssh/id_ed25519_sk.pub',
    },
  );
}

function nobodyCan(keys: readonly Keys[], level: string): Failure {
  const known = keys.flatMap((one) => one.approvers.map((each) => `${each.key} (${each.level})`));
  return new Failure("refused", "no_signer", `No enrolled key may sign this at the level "${level}".`, {
    hint: `Enrolled: ${[...new Set(known)].join(", ") || "none"}. A key with touch is made with: ssh-keygen -t ed25519-sk`,
    details: { level },
  });
}

function notGood(code: string, why: string): Failure {
  return new Failure("refused", "bad_signature", `The signature does not count: ${why}.`, {
    hint: "Nothing was changed. `pawl approver list` shows whose keys count here.",
    details: { why: code },
  });
}
