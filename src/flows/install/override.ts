import type { Style } from "../../model/text.ts";
import { columns } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { OverrideChange } from "../../ports/installation.ts";
import type { Plan } from "../../ports/operation.ts";
import { refuseAgents } from "../human-only.ts";
import { lookAtUncommitted, nextCommit } from "./commit.ts";
import { type FileReport, fileRows, reportFiles } from "./file-report.ts";
import { changesIn, refuseObstacles } from "./request.ts";
import { requestFromLedger } from "./versions.ts";

export interface OverrideDone {
  override: FileReport & { name: string };
}

export async function rehearseOverride(hands: Hands, change: OverrideChange) {
  await expectAllowed(hands, change);
  const installation = await hands.git.installation();
  return changesIn(installation.planOverride(change, requestFromLedger(installation)));
}

/** Writes the override and everything that is rendered from it, in one go. */
export async function changeOverride(
  hands: Hands,
  change: OverrideChange,
  name: string,
): Promise<Plan<OverrideDone>> {
  await expectAllowed(hands, change);
  const installation = await hands.git.installation();
  return installation.exclusively(async () => {
    installation.recover();
    const steps = installation.applyOverride(change, requestFromLedger(installation));
    refuseObstacles(steps);
    const site = (await hands.git.sites()).here();
    return {
      data: { override: { name, ...reportFiles(steps) } },
      next: await nextCommit(hands, site, lookAtUncommitted(installation)),
    };
  });
}

/** What takes an agent's own hooks, tools or instructions away is a human's decision. */
async function expectAllowed(hands: Hands, change: OverrideChange): Promise<void> {
  const takesAway = change.do === "surface" || (change.do === "skill" && change.mode === "disable");
  if (takesAway) await refuseAgents(hands, "switch off a part of pawl");
}

export const describeOverride = ({ override }: OverrideDone, style: Style) =>
  columns(fileRows(override, style)) || "Nothing changed.";
