import type { Written } from "../../judge/audit/witnesses.ts";
import { Failure } from "../../model/failure.ts";
import { type Approval, approval } from "../../model/records/run.ts";
import { type Unlock, unlock } from "../../model/records/unlock.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

/** Versions of published decisions that the records no longer have, but the history of the state does. */
export interface Formerly {
  approvals: Approval[];
  unlocks: Unlock[];
}

/**
 * A signature does not cover whether a merge is published or was rolled back. So whoever takes a branch back can change the
 * record, or delete it with its events, and no record tells of what was lost. The history of the state still does.
 */
export async function readFormerly(
  hands: Hands,
  site: Site,
  ledger: Formerly & { written: readonly Written[] },
  commit: string,
): Promise<Formerly> {
  const signed = [...ledger.approvals, ...ledger.unlocks].some((one) => one.signatures.length > 0);
  if (!signed) return { approvals: [], unlocks: [] };
  const now = new Set(ledger.written.map((one) => one.text));
  const audits = await hands.git.audits();
  const published = async (paths: string) =>
    (await audits.recordVersions(site, paths, commit)).filter(
      ({ text }) => !now.has(text) && /^signatures:$/m.test(text) && /^ *pushed: true$/m.test(text),
    );
  const approvals = await published(":(glob)tasks/*/approvals/*.md");
  const unlocks = await published(":(glob)unlocks/*.md");
  return hands.look((reader) => ({
    approvals: approvals.flatMap(({ path, text }) =>
      readable(() => reader.parse(approval, path, text, path)),
    ),
    unlocks: unlocks.flatMap(({ path, text }) => readable(() => reader.parse(unlock, path, text, path))),
  }));
}

function readable<T>(parse: () => { value: T }): T[] {
  try {
    return [parse().value];
  } catch (error) {
    // A version that cannot be read has never explained anything.
    if (error instanceof Failure) return [];
    throw error;
  }
}
