import {
  ENROL,
  type Keys,
  mustSign,
  type Needed,
  neededFor,
  unlockStatement,
  WAY_OUT,
  whoCouldSign,
} from "../../judge/keys.ts";
import type { Level } from "../../model/approvers.ts";
import { Failure } from "../../model/failure.ts";
import type { RecordSignature } from "../../model/records/signed.ts";
import type { Signature, SignedBy } from "../../model/signature.ts";
import type { Statement } from "../../model/statement.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { keysInForce } from "../audit/older-keys.ts";
import { keysAt } from "./read-keys.ts";

/** One statement to be signed; where it is about one repository of several, that one's name. */
export type ToSign = Needed & { repo?: string | undefined };

/** Has a human sign each of these, checks it by the keys of all repositories it is about, and gives what a record keeps. */
export async function signAll(
  hands: Hands,
  wanted: readonly ToSign[],
  keys: readonly Keys[],
  keyFile: string | undefined,
): Promise<RecordSignature[]> {
  const made: RecordSignature[] = [];
  for (const { about, statement, level, repo } of wanted) {
    const what = `${WORDS[about]}${repo === undefined ? "" : ` of ${repo}`}`;
    const { signature, by } = await signOne(hands, { statement, level, keys, what }, keyFile);
    made.push({ about, repo, ...by, ssh: undefined, passkey: undefined, ...signature });
  }
  return made;
}

interface OneWish {
  statement: Statement;
  level: Level;
  /** All of these have to accept it. */
  keys: readonly Pick<Keys, "approvers">[];
  what: string;
}

/** Has a human sign one statement, and checks it with our own code, whatever ssh-keygen said. */
export async function signOne(
  hands: Hands,
  { statement, level, keys, what }: OneWish,
  keyFile: string | undefined,
): Promise<{ signature: Signature; by: SignedBy }> {
  const { sign, check } = await hands.signatures();
  const approvers = whoCouldSign(keys, level);
  if (approvers.length === 0) throw nobodyCan(keys, level);
  const touch = approvers.some((one) => one.level === "present") ? " Touch your key when it asks." : "";
  hands.say(`Sign ${what}.${touch}`);
  const signature = await sign({ statement, approvers, keyFile });
  const verdicts = keys.map((one) => check(statement, signature, one.approvers, level));
  const bad = verdicts.find((one) => !one.ok);
  if (bad && !bad.ok) throw notGood(bad.code, bad.why);
  const [good] = verdicts;
  if (!good?.ok) throw nobodyCan(keys, level);
  return { signature, by: { name: good.name, key: good.key, level: good.level } };
}

/** What a record says of its signatures; nothing where none was needed. */
export interface Signing {
  uid: string | undefined;
  signatures: RecordSignature[];
}

/** Has a human sign one move of a branch, as far as the keys and the policy from before it want that. */
export async function signMove(
  hands: Hands,
  site: Site,
  { ref, old, new: fresh, uid }: { ref: string; old: string; new: string; uid?: string | undefined },
  keyFile: string | undefined,
): Promise<Signing> {
  const before = await keysInForce(hands, site, ref, old);
  const record = uid ?? (await hands.signatures()).newId();
  const move = { ref, old, new: fresh, uid: record, approval: undefined };
  const needed = neededFor(move, before, await keysAt(hands, site, fresh));
  if (needed.length === 0) return { uid, signatures: [] };
  return { uid: record, signatures: await signAll(hands, needed, [before], keyFile) };
}

/** Has a human sign that a branch is opened for a while; only what is signed when it is closed explains anything. */
export async function signUnlock(
  hands: Hands,
  site: Site,
  { ref, tip, until }: { ref: string; tip: string | undefined; until: string },
  keyFile: string | undefined,
): Promise<Signing> {
  const keys = tip === undefined ? undefined : await keysInForce(hands, site, ref, tip);
  if (tip === undefined || !keys || !mustSign(keys)) return { uid: undefined, signatures: [] };
  const uid = (await hands.signatures()).newId();
  const statement = unlockStatement({ uid, ref, tip, until }, keys);
  const wanted = { about: "unlock" as const, statement, level: keys.level };
  return { uid, signatures: await signAll(hands, [wanted], [keys], keyFile) };
}

const WORDS: Record<RecordSignature["about"], string> = {
  approval: "the approval",
  unlock: "the opening of the branch",
  unlocked: "what the branch has now",
  approvers: "the new list of approvers",
  policy: "the policy change (.pawl/config.yaml)",
  settle: "which versions are kept",
  uninstall: "the removal of pawl",
  request: "the request",
};

/** Refused early: a policy that wants signatures, and nobody who could sign. */
export function expectSigners(keys: Keys, where: string): void {
  if (!keys.signed || (mustSign(keys) && !keys.broken)) return;
  if (keys.broken)
    throw new Failure("unreadable", "broken_approvers", `The approvers on ${where} cannot be read.`, {
      hint: "Nobody can sign until they can be read. docs/approve.md says how to start over.",
    });
  throw new Failure(
    "refused",
    "no_approvers",
    `The policy of ${where} requires signatures, but no key is enrolled.`,
    {
      hint: 'Enrol one first: pawl approver add --name "Your Name" --ssh ~/.ssh/id_ed25519_sk.pub',
    },
  );
}

function nobodyCan(keys: readonly Pick<Keys, "approvers">[], level: string): Failure {
  const known = keys.flatMap((one) => one.approvers.map((each) => `${each.key} (${each.level})`));
  return new Failure("refused", "no_signer", `No enrolled key may sign this at the level "${level}".`, {
    hint: `Enrolled: ${[...new Set(known)].join(", ") || "none"}. Enrol one that has it, signed with one of these: ${ENROL}\nA passkey is enrolled on the page (pawl ui). ${WAY_OUT}`,
    details: { level },
  });
}

function notGood(code: string, why: string): Failure {
  return new Failure("refused", "bad_signature", `The signature does not count: ${why}.`, {
    hint: "Nothing was changed. `pawl approver list` shows whose keys count here.",
    details: { why: code },
  });
}
