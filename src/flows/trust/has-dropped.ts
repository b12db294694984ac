import { LEDGER_FILE } from "../../model/paths.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { unexplained } from "../audit/accept.ts";
import { protectedKeys } from "./change-approvers.ts";

/**
 * Whether the project has taken pawl out: every protected branch once had the ledger and has it no more, and everything on
 * it is explained. A branch that somebody moved past the guard says nothing about what its people want.
 */
export async function hasDropped(hands: Hands, site: Site): Promise<boolean> {
  const audits = await hands.git.audits();
  const branches = await protectedKeys(hands, site);
  for (const { ref, tip } of branches) {
    if ((await audits.fileAt(site, tip, LEDGER_FILE)) !== undefined) return false;
    if ((await audits.changing(site, { tip, without: [] }, [LEDGER_FILE])).length === 0) return false;
    if ((await unexplained(hands, site, ref, false)).length > 0) return false;
  }
  return branches.length > 0;
}
