import { enrolled, type Keys, neededFor, whyNobodyCanSign } from "../../judge/keys.ts";
import { APPROVERS_FILE, type Approver, printApprovers } from "../../model/approvers.ts";
import { Failure } from "../../model/failure.ts";
import { branchOfRef } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import type { RecordSignature } from "../../model/records/signed.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type { BranchTip } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { BranchMove } from "../../ports/merges.ts";
import type { Site } from "../../ports/sites.ts";
import { refusalOf } from "../approve/approve-candidate.ts";
import { recoverHolding } from "../approve/approve-recover.ts";
import { keysInForce } from "../audit/older-keys.ts";
import { closeWithMoves, isProtectedBranch, newUnlock } from "../audit/open-unlock.ts";
import { keysAt } from "./read-keys.ts";
import { signAll } from "./sign.ts";

const SECONDS = 60;

/** One protected branch, and who may decide on it by its own file. */
export interface KeyBranch {
  branch: string;
  ref: string;
  tip: string;
  keys: Keys;
}

/** A new list for one branch. */
export interface NewList extends KeyBranch {
  approvers: readonly Approver[];
}

export interface ListChange {
  lists: readonly NewList[];
  /** What is done, as the commit and the record say it. */
  what: string;
  /** Where nobody is enrolled yet, the first key proves that it is the human's: this file. */
  firstKey: string | undefined;
  signWith: string | undefined;
  /** All keys are lost, so nobody can sign; every audit reports it. */
  lost: boolean;
}

/** The protected branches that are here. */
export async function protectedKeys(hands: Hands, site: Site): Promise<KeyBranch[]> {
  const { branches } = await (await hands.git.audits()).branching(site, "own");
  const found: KeyBranch[] = [];
  for (const { ref, tip, standsFor } of branches as BranchTip[]) {
    const branch = branchOfRef(ref);
    if (standsFor !== undefined || !(await isProtectedBranch(hands, site, branch))) continue;
    found.push({ branch, ref, tip, keys: await keysAt(hands, site, tip) });
  }
  return found;
}

/** Protected branches that origin has with this key, and that are not here: a removal would not land on them. */
export async function listedElsewhere(hands: Hands, site: Site, key: string): Promise<string[]> {
  const audits = await hands.git.audits();
  const here = new Set((await audits.branching(site, "own")).branches.map((one) => one.ref));
  const found: string[] = [];
  for (const { ref, tip } of (await audits.branching(site, "remote")).branches) {
    const branch = branchOfRef(ref);
    if (here.has(ref) || !(await isProtectedBranch(hands, site, branch))) continue;
    const { approvers } = await keysAt(hands, site, tip);
    if (approvers.some((one) => one.key === key)) found.push(branch);
  }
  return found;
}

export async function keyBranches(hands: Hands, site: Site): Promise<KeyBranch[]> {
  const found = await protectedKeys(hands, site);
  for (const one of found) one.keys = await keysInForce(hands, site, one.ref, one.tip);
  if (found.length > 0) return found;
  throw new Failure(
    "refused",
    "nothing_protected",
    `${site.name} has no protected branch to put approvers on.`,
    {
      hint: "Commit something on it first; `protected:` in .pawl/config.yaml names the branches.",
    },
  );
}

/** Puts new lists on their branches, one commit each. Asked and confirmed before. */
export async function changeApprovers(hands: Hands, site: Site, change: ListChange): Promise<Unlock[]> {
  // The same repository on each of its branches.
  const known = change.lists.map((one) => one.keys.id).find((id) => id !== "");
  const repository = (!change.lost && known) || (await hands.signatures()).newId();
  // One name in what is signed for all branches says that a removal landed on them together.
  const uid = (await hands.signatures()).newId();
  const together = { repository, uid, commits: new Map<string, string>() };
  const done: Unlock[] = [];
  for (const list of change.lists) await checkMovable(hands, site, list);
  for (const list of change.lists) done.push(await changeOne(hands, site, list, change, together));
  return done;
}

async function checkMovable(hands: Hands, site: Site, { branch, tip }: NewList): Promise<void> {
  const targets = await hands.git.targets();
  const unsupported = await targets.unsupported(site, branch);
  const [obstacle] = unsupported
    ? [unsupported]
    : await targets.obstacles(site, { branch, from: tip, to: tip });
  if (obstacle) throw refusalOf(obstacle, site.name);
}

interface Together {
  repository: string;
  uid: string;
  /** Branches that were alike stay alike: they get the same commit, whose clock may have moved on between two of them. */
  commits: Map<string, string>;
}

async function changeOne(
  hands: Hands,
  site: Site,
  list: NewList,
  change: ListChange,
  { repository, uid, commits }: Together,
): Promise<Unlock> {
  const merges = await hands.git.merges();
  const { branch, ref, tip: old, approvers } = list;
  const text = printApprovers({ repository, approvers: [...approvers] });
  const keyed = await merges.withFile(site, old, APPROVERS_FILE, text);
  const policy = change.lost ? await fittingPolicy(hands, site, list) : undefined;
  const tree = policy === undefined ? keyed : await merges.withFile(site, keyed, POLICY_FILE, policy);
  const message = `${change.what}\n\nBy pawl approver. What follows is judged by the keys in ${APPROVERS_FILE}.\n`;
  const alike = `${old} ${tree}`;
  const fresh = commits.get(alike) ?? (await merges.commit(site, { tree, parents: [old], message }));
  commits.set(alike, fresh);
  const signatures = await sign(hands, site, { ...list, fresh, uid }, change);
  return merges.exclusively(async () => {
    await recoverHolding(hands);
    const until = (await hands.git.locks()).later(SECONDS);
    const opening = { ref, tip: old, until, reason: change.what, repo: site.name, uid, signatures };
    const { data } = await hands.record((reader, at) => newUnlock(reader, at, opening), {
      phase: "before",
      milestone: `${change.what} on ${branch}`,
    });
    await move(hands, data.unlock.id, { site, branch, old, new: fresh });
    const moves = [{ old, new: fresh }];
    return { ...data.unlock, status: "closed", moves };
  });
}

/** Whoever starts over can sign afterwards: a policy that asks for more than the new keys can say asks for what they can. */
async function fittingPolicy(
  hands: Hands,
  site: Site,
  { tip, keys, approvers }: NewList,
): Promise<string | undefined> {
  if (whyNobodyCanSign({ ...keys, approvers }) === undefined) return undefined;
  const policy = (await (await hands.git.audits()).fileAt(site, tip, POLICY_FILE)) ?? "";
  const line = "level: possession";
  return /^level:.*$/m.test(policy)
    ? policy.replace(/^level:.*$/m, line)
    : `${policy}${policy.endsWith("\n") ? "" : "\n"}${line}\n`;
}

async function move(hands: Hands, unlock: string, moved: BranchMove): Promise<void> {
  const merges = await hands.git.merges();
  const move = { old: moved.old, new: moved.new };
  const purpose = { kind: "approvers" as const, unlock, move };
  const undertaking = await merges.begin(unlock, purpose, `pawl: change approvers (${unlock})`, [moved]);
  try {
    await undertaking.carryOut();
  } catch (error) {
    if (undertaking.decided()) throw error;
    for (const note of await undertaking.undo()) hands.say(note);
    await closeWithMoves(hands, unlock, []);
    await undertaking.close();
    throw error;
  }
  await closeWithMoves(hands, unlock, [move]);
  await undertaking.close();
}

async function sign(
  hands: Hands,
  site: Site,
  { ref, tip, keys, fresh, uid }: NewList & { fresh: string; uid: string },
  { lost, firstKey, signWith }: ListChange,
): Promise<RecordSignature[]> {
  if (lost) return [];
  const after = await keysAt(hands, site, fresh);
  const about = { ref, old: tip, new: fresh, uid, approval: undefined };
  if (enrolled(keys)) return signAll(hands, neededFor(about, keys, after), [keys], signWith);
  // There was no key to ask: the first one proves that it works and is at hand.
  const asIfKnown = { ...after, digests: keys.digests };
  return signAll(hands, neededFor(about, asIfKnown, after), [after], firstKey);
}
