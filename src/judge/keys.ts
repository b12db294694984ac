import { type Approver, atLeast, type Level } from "../model/approvers.ts";
import type { RecordSignature } from "../model/records/signed.ts";
import type { Decided } from "../model/records/unlock.ts";
import type { Signature, SignedBy } from "../model/signature.ts";
import type { Statement } from "../model/statement.ts";
import type { CheckSignature } from "../ports/signatures.ts";

/** Who may decide what, according to one commit's tree. */
export interface Keys {
  /** The repository's id in signed statements; empty if nobody is enrolled. */
  id: string;
  approvers: readonly Approver[];
  /** The list of keys cannot be read: then nobody can sign, and nobody may decide without signing. */
  broken: boolean;
  /** The policy cannot be read, so every command that needs it refuses. */
  unreadable: boolean;
  /** The policy wants decisions signed, at this level. */
  signed: boolean;
  level: Level;
  /** Remotes whose protected branches accept only approved commits. */
  guarded: ReadonlySet<string>;
  /** Digests of both files; empty where a file does not exist. */
  digests: { policy: string; approvers: string };
}

export const enrolled = ({ approvers, broken }: Pick<Keys, "approvers" | "broken">) =>
  approvers.length > 0 || broken;

/**
 * Decisions have to be signed if the policy says so and somebody can: without any key there is only the
 * terminal.
 */
export const mustSign = (keys: Keys) => keys.signed && enrolled(keys);

/**
 * Combines a branch's own keys with those of an older branch: the older one's keys if its own files require
 * no signature, and the stricter level.
 */
export function strictest(own: Keys, older: Keys | undefined): Keys {
  if (!older || !mustSign(older)) return own;
  if (!mustSign(own)) return { ...older, digests: own.digests };
  return atLeast(own.level, older.level) ? own : { ...own, level: older.level };
}

/** The level that a change of the keys needs. */
const highestLevel = ({ approvers }: Pick<Keys, "approvers">): Level =>
  approvers.some((one) => one.level === "present") ? "present" : "possession";

/** One move of a protected branch that a record explains. */
export interface Move {
  ref: string;
  /** Where the branch was, and where it went. */
  old: string;
  new: string;
  /** The record's id in signed statements. */
  uid: string;
  signatures: readonly RecordSignature[];
  /** What the signature of an approval or a request covers; for an unlock it is made from the move. */
  approval: Statement | undefined;
}

/** A statement that has to be signed before a move counts as explained, and the level it needs. */
export interface Needed {
  about: RecordSignature["about"];
  statement: Statement;
  level: Level;
}

/** What has to be signed for a move, by the keys and the policy before it. */
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
  // A signed change of the keys or the policy names the move, so it needs no second signature.
  if (!before.signed || changes.length > 0) return changes;
  return [
    { about: "unlocked", statement: { kind: "unlocked", record, repos: [target] }, level: before.level },
  ];
}

/** What is signed when a branch is unlocked. */
export const unlockStatement = (
  {
    uid = "",
    ref,
    tip = "",
    until,
  }: { uid?: string | undefined; ref: string; tip?: string | undefined; until: string },
  { id }: Pick<Keys, "id">,
): Statement => ({ kind: "unlock", record: uid, repos: [{ id, ref, old: tip, until }] });

/** Whether a human opened the branch for exactly this long, as the keys of that time require. */
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

/**
 * What is signed for a decision that moves no branch; `keys` are those of its branches, in the same order.
 */
export function decidedStatement(
  record: string,
  { about, branches, ours = "", theirs = "", keep_ours, keep_theirs }: Decided,
  keys: readonly Pick<Keys, "id">[],
): Statement {
  const repos = branches.map(({ ref, tip: old }, at) => ({ id: keys[at]?.id ?? "", ref, old }));
  if (about === "uninstall") return { kind: about, record, repos };
  return { kind: about, record, repos, ours, theirs, keep: { ours: keep_ours, theirs: keep_theirs } };
}

/** Whether such a decision was signed as the keys of all its branches require. */
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

/** Every check that `judgeMove` will make. */
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

/** Whether a move was signed as the keys and the policy before it require. */
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

const signatureOf = ({ ssh, passkey }: Pick<RecordSignature, "ssh" | "passkey">): Signature =>
  ssh !== undefined ? { ssh } : passkey !== undefined ? { passkey } : NOTHING;

/** Who could sign at this level for all of these, the highest level first. */
export function whoCouldSign(all: readonly Pick<Keys, "approvers">[], level: Level): Approver[] {
  const [first, ...others] = all;
  return (first?.approvers ?? [])
    .filter((one) => atLeast(one.level, level))
    .filter((one) => others.every(({ approvers }) => approvers.some((other) => other.public === one.public)))
    .toSorted(
      (one, other) => Number(atLeast(other.level, "present")) - Number(atLeast(one.level, "present")),
    );
}

export const WAY_OUT = 'docs/approve.md, "Nobody can sign", has the way out.';

/** The first thing to try there. */
export const ENROL = 'pawl approver add --name "Your Name" --ssh ~/.ssh/id_ed25519_sk.pub';

/**
 * Why nobody can decide: no enrolled key has the level that the policy requires. Undefined if somebody can.
 */
export function whyNobodyCanSign(keys: Keys): string | undefined {
  // Unreadable files are refused elsewhere.
  if (!keys.signed || keys.broken || keys.unreadable) return undefined;
  if (whoCouldSign([keys], keys.level).length > 0) return undefined;
  const known = keys.approvers.map((one) => `${one.key} has ${one.level}`).join(", ");
  return `signatures at the level "${keys.level}", and ${known === "" ? "no key is enrolled" : `no enrolled key has that level (${known})`}`;
}
