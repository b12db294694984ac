import { isUndecided } from "../../judge/audit/classify.ts";
import { branchOfRef } from "../../model/naming.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import { plural, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { unexplained } from "../audit/accept.ts";

/**
 * Pawl comes to a branch again that had it before. What was committed meanwhile is not believed: whoever wipes a clone
 * and installs anew leaves exactly what an honest uninstallation leaves. So a human says it, and learns here how.
 */
export async function tellWithoutPawl(hands: Hands, site: Site, made: string | undefined): Promise<string[]> {
  const audits = await hands.git.audits();
  const { branches, base } = await audits.branching(site, "own");
  const branch = branches.find((one) => one.ref === base);
  if (!branch) return [];
  const installed = await audits.changing(site, { tip: branch.tip, without: [] }, [LEDGER_FILE]);
  if (installed.every((commit) => commit === made)) return [];
  const wrong = (await unexplained(hands, site, branch.ref, false)).filter((one) => !isUndecided(one));
  if (wrong.length === 0) return [];
  const name = branchOfRef(branch.ref);
  return [
    `pawl was on ${name} before, and nothing explains ${plural(wrong.length, "commit")} since; audits report that until a human accepts it: pawl unlock ${quoted(name)} --accept`,
  ];
}
