import * as z from "zod/mini";
import { activateGuard } from "../flows/guard/activate-guard.ts";
import { leaving } from "../flows/human-only.ts";
import { lookAtUncommitted, nextCommit } from "../flows/install/commit.ts";
import { type FileReport, fileRows, reportFiles, rowsOf } from "../flows/install/file-report.ts";
import { keepEnvironment } from "../flows/install/keep-environment.ts";
import { changesIn, missingCopy, refuseObstacles } from "../flows/install/request.ts";
import { requestFromLedger } from "../flows/install/versions.ts";
import { asTaken, describeWay, proposeRemotes, unconfirmed } from "../flows/trust/propose.ts";
import { columns, paragraphs, plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Installation, OverrideListing } from "../ports/installation.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface UpgradeReport extends FileReport {
  from: string;
  to: string;
  runtime: number;
  /** Overrides that a person should look at. */
  overrides: OverrideListing[];
}

const SETTLE = { do: "settle", name: undefined } as const;

export const upgrade = procedure({
  id: "upgrade",
  summary: "Upgrade what is installed here to this version of pawl",
  details:
    "Files you did not touch are updated; files no longer needed are removed. A file you edited stays as it is and\nis listed. Changes to pawl's own text are merged into your overrides where possible; where not, yours stay in\nuse and both sides are shown. The clone's copy of pawl is replaced in one step.",
  examples: ["pawl upgrade", "pawl upgrade --dry-run"],
  access: "write",
  input: z.strictObject({}),

  async rehearse(hands) {
    const installation = await hands.git.installation();
    const steps = installation.planOverride(SETTLE, { ...requestFromLedger(installation), renew: true });
    return [...changesIn(steps), ...missingCopy(installation)];
  },

  async perform(hands) {
    const installation = await hands.git.installation();
    return installation.exclusively(() => renew(hands, installation));
  },

  text: ({ upgrade: report }, style) => {
    const { from, to, runtime } = report;
    const rows = [
      ...fileRows(report, style),
      ...(runtime > 0 ? [["copied", `pawl ${to} into this clone (${plural(runtime, "file")})`]] : []),
      ...rowsOf(
        "override",
        report.overrides.map(
          ({ name, state }) => `${name}: ${state.replaceAll("_", " ")} (pawl override list)`,
        ),
      ),
    ];
    return paragraphs(from === to ? `This is already pawl ${to}.` : `pawl ${from} → ${to}`, columns(rows));
  },
});

/** A clone that an older pawl guarded has confirmed no remote yet: a human at a terminal is asked. */
async function renewGuard(hands: Hands, site: Site): Promise<string[]> {
  const { sure, open } = await proposeRemotes(hands, site);
  const taken = [...sure];
  const left: string[] = [];
  for (const way of open) {
    const answer =
      hands.agent === undefined
        ? await leaving(
            hands.ask(
              `Trust ${describeWay(way)}, so that its commits may be pulled and count as explained? Type yes: `,
            ),
            "the files are upgraded, the hooks are not yet. To go on: pawl upgrade",
          )
        : undefined;
    if (answer === "yes") taken.push(way);
    else left.push(unconfirmed(way));
  }
  return [...(await activateGuard(hands, site, asTaken(taken))).notes, ...left];
}

async function renew(hands: Hands, installation: Installation) {
  const notes = installation.recover();
  const request = requestFromLedger(installation);
  const runtime = installation.copyRuntime();
  const steps = installation.applyOverride(SETTLE, { ...request, renew: true });
  refuseObstacles(steps);
  const site = (await hands.git.sites()).here();
  const guarded = (await hands.git.audits()).guardActive(site);
  if (guarded) notes.push(...(await renewGuard(hands, site)));
  await keepEnvironment(hands);
  const report: UpgradeReport = {
    from: request.before.version,
    to: installation.version,
    runtime: runtime.length,
    ...reportFiles(steps),
    overrides: installation.overrides().filter((one) => one.state !== "applied"),
  };
  return {
    data: { upgrade: report },
    next: await nextCommit(hands, site, lookAtUncommitted(installation)),
    warnings: notes,
  };
}
