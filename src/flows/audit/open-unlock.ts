import { change, madeNow } from "../../judge/change.ts";
import { formatUnlockId, nextNumber } from "../../model/ids.ts";
import { branchOfRef, matchesPattern, refOfBranch } from "../../model/naming.ts";
import { POLICY_FILE, unlockFile } from "../../model/paths.ts";
import { protectedPatterns } from "../../model/protection.ts";
import { printRecord } from "../../model/record.ts";
import { howOf, type RecordSignature, UNSIGNED } from "../../model/records/signed.ts";
import { type Unlock, unlock } from "../../model/records/unlock.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site } from "../../ports/sites.ts";

/** Protected by the current policy, or by a recorded baseline. */
export async function isProtectedBranch(hands: Hands, site: Site, branch: string): Promise<boolean> {
  const { committed, copy, defaultBranch } = await (await hands.git.audits()).branching(site, "own");
  return hands.look((reader) => {
    const read = (text: string | undefined) => (text === undefined ? [] : [reader.config(POLICY_FILE, text)]);
    const patterns = protectedPatterns(read(committed)[0], read(copy), defaultBranch);
    const recorded = reader.repositories().records.filter((one) => one.value.id === site.name);
    return (
      patterns.some((one) => matchesPattern(one, branch)) ||
      recorded.some((one) => one.value.baseline.some((each) => each.ref === refOfBranch(branch)))
    );
  });
}

export interface Opening {
  ref: string;
  tip: string | undefined;
  until: string;
  reason: string;
  repo: string;
  uid?: string | undefined;
  signatures?: RecordSignature[];
  /** For a decision that moves no branch, whose record is never open. */
  status?: Unlock["status"];
  closed?: string;
  decided?: Unlock["decided"];
}

export function newUnlock(reader: Reader, at: Situation, wanted: Opening): Plan<{ unlock: Unlock }> {
  const branch = branchOfRef(wanted.ref);
  const value: Unlock = {
    id: formatUnlockId(nextNumber(reader.unlockNames(), unlock.letter)),
    status: "open",
    how: howOf(branch, wanted.signatures ?? []),
    closed: undefined,
    clone: at.clone,
    moves: [],
    decided: undefined,
    pushed: undefined,
    ...UNSIGNED,
    ...madeNow(at),
    ...wanted,
  };
  const path = unlockFile(value.id);
  const about = wanted.decided ? wanted.reason : `${branch} until ${wanted.until}`;
  return {
    data: { unlock: value },
    effects: [{ do: "create", record: value.id, rev: 1, path, text: printRecord(unlock, value), about }],
  };
}

/** Closes an unlock whose moves are known, without reading the branch's log. */
export async function closeWithMoves(
  hands: Hands,
  id: string,
  moves: Unlock["moves"],
  signatures: RecordSignature[] = [],
): Promise<void> {
  await hands.record(
    (reader, at) => {
      const stored = reader.unlocks().records.find((one) => one.path === unlockFile(id));
      if (!stored || stored.value.status === "closed") return { data: undefined };
      const all = [...stored.value.signatures, ...signatures];
      const how = signatures.length > 0 ? howOf("", signatures) : stored.value.how;
      const changes = { status: "closed" as const, closed: at.now, moves, signatures: all, how };
      const about = `closed after ${plural(moves.length, "move")}`;
      return { data: undefined, effects: [change(unlock, stored, changes, at, about).effect] };
    },
    { phase: "after", milestone: `${id}: closed again` },
  );
}
