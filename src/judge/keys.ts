import { type Approver, atLeast, type Level } from "../model/approvers.ts";
import type { RecordSignature } from "../model/records/signed.ts";
import type { Decided } from "../model/records/unlock.ts";
import type { Signature, SignedBy } from "../model/signature.ts";
import type { Statement } from "../model/statement.ts";
import type { CheckSignature } from "../ports/signatures.ts";

/** Who may decide what, as one commit's tree says it. */
export interface Keys {
  /** The repository's own name in what is signed; empty where nobody is enrolled. */
  id: string;
  approvers: readonly Approver[];
  /** There is a list of keys that cannot be read: nobody can sign then, and nobody else can decide either. */
  broken: boolean;
  /** There is a policy that cannot be read, so every command that asks it would refuse. */
  unreadable: boolean;
  /** The policy wants decisions signed, at this level. */
  signed: boolean;
  level: Level;
  /** Remotes whose protected branches take nothing that was not approved. */
  guarded: ReadonlySet<string>;
  /** Of both files; empty where there is none. */
  digests: { policy: string; approvers: string };
}

export const enrolled = ({ approvers, broken }: Pick<Keys, "approvers" | "broken">) =>
  approvers.length > 0 || broken;

/** Decisions are signed where the policy says so and somebody could: without any key there is only the terminal. */
export const mustSign = (keys: Keys) => keys.signed && enrolled(keys);

/** What a change of the keys needs. */
export const highestLevel = ({ approvers }: Pick<Keys, "approvers">): Level =>
  approvers.some((one) => one.level === "present") ? "present" : "possession";

/** One move of a protected branch that a record explains. */
export interface Move {
  ref: string;
  /** What the branch was, and what it became. */
  old: string;
  new: string;
  /** What the record is called in what was signed. */
  uid: string;
  signatures: readonly RecordSignature[];
  /** The statement that the signature of an approval or a request is about; an unlock's is made from the move. */
  approval: Statement | undefined;
}

/** A statement that has to be signed before a move is explained, and how good the signature has to be. */
export interface Needed {
  about: RecordSignature["about"];
  statement: Statement;
  level: Level;
}

/** What has to be signed for a move, by the keys and the policy from before it. */
export function neededFor(
  move: Omit<Move, "signatures">,
  before: Keys,
  after: Pick<Keys, "digests">,
): Needed[] {
  if (!enrolled(before)) return [];
  const { uid: record, ref, old, new: fresh } = move;
  const target = { id: before.id, ref, old, new: fresh };
  const change = (kind: "approvers" | "policy", level: Level): Needed[] => {
    const [was, is] = [before.digests[kind], after.digests[kind]];
    if (was === is) return [];
    const repos: [typeof target & { before: string; after: string }] = [
      { ...target, before: was, after: is },
    ];
    return [{ about: kind, statement: { kind, record, repos }, level }];
  };
  const changes = [
    ...change("approvers", highestLevel(before)),
    ...(before.signed ? change("policy", before.level) : []),
  ];
  if (move.approval) {
    const own: Needed = { about: move.approval.kind, statement: move.approval, level: before.level };
    return before.signed ? [own, ...changes] : changes;
  }
  // What is signed of a change names the move, too.
  if (!before.signed || changes.length > 0) return changes;
  return [
    { about: "unlocked", statement: { kind: "unlocked", record, repos: [target] }, level: before.level },
  ];
}

/** What is signed when a branch is opened. */
export const unlockStatement = (
  {
    uid = "",
    ref,
    tip = "",
    until,
  }: { uid?: string | undefined; ref: string; tip?: string | undefined; until: string },
  { id }: Pick<Keys, "id">,
): Statement => ({ kind: "unlock", record: uid, repos: [{ id, ref, old: tip, until }] });

/** Whether a human opened the branch for exactly this long, as the keys that it had then want it. */
export function isRightlyOpen(
  one: { uid?: string | undefined; ref: string; tip?: string | undefined; until: string } & Pick<
    Move,
    "signatures"
  >,
  keys: Keys,
  check: CheckSignature,
): boolean {
  if (!mustSign(keys)) return true;
  const found = one.signatures.filter(({ about }) => about === "unlock");
  return found.some(
    (each) => check(unlockStatement(one, keys), signatureOf(each), keys.approvers, keys.level).ok,
  );
}

/** What is signed of a decision that moves no branch; `keys` are those of its branches, in their order. */
export function decidedStatement(
  record: string,
  { about, branches, ours = "", theirs = "", keep_ours, keep_theirs }: Decided,
  keys: readonly Pick<Keys, "id">[],
): Statement {
  const repos = branches.map(({ ref, tip: old }, at) => ({ id: keys[at]?.id ?? "", ref, old }));
  if (about === "uninstall") return { kind: about, record, repos };
  return { kind: about, record, repos, ours, theirs, keep: { ours: keep_ours, theirs: keep_theirs } };
}

/** Whether such a decision was signed as the keys of all its branches want it. */
export function judgeDecided(
  {
    uid = "",
    signatures,
    decided,
  }: Pick<Move, "signatures"> & { uid?: string | undefined; decided: Decided },
  keys: readonly Keys[],
  check: CheckSignature,
): Signed {
  if (keys.length === 0 || !keys.every(mustSign))
    return { ok: false, why: "no key could sign it at the commits that it names" };
  const found = signatures.find((one) => one.about === decided.about);
  if (!found) return { ok: false, why: `${WORDS[decided.about]} is not signed` };
  const statement = decidedStatement(uid, decided, keys);
  const verdicts = keys.map((one) => check(statement, signatureOf(found), one.approvers, one.level));
  const bad = verdicts.find((one) => !one.ok);
  if (bad) return { ok: false, why: `the signature of ${WORDS[decided.about]} is invalid: ${whyOf(bad)}` };
  const [good] = verdicts;
  return { ok: true, by: good?.ok ? { name: good.name, key: good.key, level: good.level } : undefined };
}

/** Everything that `judgeMove` will have checked. */
export const checksOf = (
  move: Move,
  before: Keys,
  after: Pick<Keys, "digests">,
): Parameters<CheckSignature>[] =>
  neededFor(move, before, after).flatMap(({ about, statement, level }) =>
    move.signatures
      .filter((one) => one.about === about)
      .map((one): Parameters<CheckSignature> => [statement, signatureOf(one), before.approvers, level]),
  );

export type Signed = { ok: true; by: SignedBy | undefined } | { ok: false; why: string };

/** Whether a move was signed as the keys and the policy from before it want it. */
export function judgeMove(
  move: Move,
  before: Keys,
  after: Pick<Keys, "digests">,
  check: CheckSignature,
): Signed {
  let by: SignedBy | undefined;
  for (const { about, statement, level } of neededFor(move, before, after)) {
    const what = WORDS[about];
    if (before.broken) return { ok: false, why: "the list of approvers in force before it cannot be read" };
    const found = move.signatures.filter((one) => one.about === about);
    if (found.length === 0) return { ok: false, why: `${what} is not signed` };
    const verdicts = found.map((one) => check(statement, signatureOf(one), before.approvers, level));
    const good = verdicts.find((one) => one.ok);
    const named = good && found[verdicts.indexOf(good)];
    if (good?.ok && (named?.name !== good.name || named.key !== good.key))
      return {
        ok: false,
        why: `it names ${named?.name} with ${named?.key}, and ${good.name} signed it with ${good.key}`,
      };
    if (!good?.ok) return { ok: false, why: `the signature of ${what} is invalid: ${whyOf(verdicts[0])}` };
    by ??= { name: good.name, key: good.key, level: good.level };
  }
  return { ok: true, by };
}

const WORDS: Record<RecordSignature["about"], string> = {
  approval: "the approval",
  unlock: "the unlock",
  unlocked: "what was done while it was unlocked",
  approvers: "its change of the approvers",
  policy: "its change of the policy",
  settle: "what was settled",
  uninstall: "the uninstallation",
  request: "the request",
};

const whyOf = (verdict: { ok: boolean; why?: string } | undefined) => verdict?.why ?? "it cannot be read";

const NOTHING: Signature = { ssh: "" };

export const signatureOf = ({ ssh, passkey }: Pick<RecordSignature, "ssh" | "passkey">): Signature =>
  ssh !== undefined ? { ssh } : passkey !== undefined ? { passkey } : NOTHING;

/** Those who could sign at this level in all of these, the best level first. */
export function whoCouldSign(all: readonly Pick<Keys, "approvers">[], level: Level): Approver[] {
  const [first, ...others] = all;
  return (first?.approvers ?? [])
    .filter((one) => atLeast(one.level, level))
    .filter((one) => others.every(({ approvers }) => approvers.some((other) => other.public === one.public)))
    .toSorted(
      (one, other) => Number(atLeast(other.level, "present")) - Number(atLeast(one.level, "present")),
    );
}
