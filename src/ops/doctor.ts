import * as z from "zod/mini";
import { guardSpecialist } from "../flows/guard/diagnose-guard.ts";
import { installationSpecialist } from "../flows/install/diagnose.ts";
import { agentRows } from "../flows/install/file-report.ts";
import { recordsSpecialist } from "../flows/records/diagnose-records.ts";
import { REPAIR } from "../model/guard-policy.ts";
import { flag } from "../model/input.ts";
import { paragraphs, plural, type Style } from "../model/text.ts";
import type { Diagnosis, Specialist } from "../ports/doctor.ts";
import type { Hands } from "../ports/hands.ts";
import type { AgentNext } from "../ports/installation.ts";
import { procedure } from "./operation.ts";

/** Each knows its own part; a new part of an installation adds one here. */
const SPECIALISTS: readonly Specialist[] = [guardSpecialist, installationSpecialist, recordsSpecialist];

export const doctor = procedure({
  id: "doctor",
  summary: "Check that everything pawl installed is in place and works",
  details:
    "Checks the guard in every worktree by a real test change, the installed files, the clone's copy of pawl,\noverrides, and what a person still has to tell the agents. --fix restores what an install would write and\nleaves everything else to you. --agents also says how to start each agent and what it will ask you. Exit code\n0 when nothing is wrong, 1 when there are problems; notes are not problems.",
  examples: ["pawl doctor", "pawl doctor --fix", "pawl doctor --agents", "pawl doctor --json"],
  access: "write",
  asItIs: true,
  input: z.strictObject({
    fix: flag("repair what can be repaired"),
    agents: flag("also say how to start each agent, and what it asks first"),
  }),

  async rehearse(hands, input) {
    const found = await examine(hands);
    const fixable = found.filter((one) => input.fix && one.command === REPAIR);
    return fixable.map((one) => ({ do: `fix (${one.code})`, path: one.where }));
  },

  async perform(hands, input) {
    const first = await examine(hands);
    const done = input.fix ? await repair(hands, first) : [];
    const diagnoses = input.fix ? await examine(hands) : first;
    const problems = diagnoses.filter((one) => one.level === "problem");
    const command = problems.find((one) => one.command !== undefined)?.command;
    return {
      data: { doctor: { diagnoses, done, agents: input.agents ? await agentsHere(hands) : [] } },
      notReady: problems.length > 0,
      next: command === undefined ? undefined : { command, reason: "fix what can be fixed" },
    };
  },

  text: ({ doctor: { diagnoses, done, agents } }, style) =>
    paragraphs(report(diagnoses, done, style), agentRows(agents, style)),
});

async function agentsHere(hands: Hands): Promise<AgentNext[]> {
  const installation = await hands.git.installation();
  const installed = installation.installed();
  return installed ? installation.next(installed) : [];
}

/** Everything that every specialist has to say. */
export async function examine(hands: Hands): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const one of SPECIALISTS) found.push(...(await one.examine(hands)));
  return found;
}

async function repair(hands: Hands, found: readonly Diagnosis[]): Promise<string[]> {
  const done: string[] = [];
  for (const one of SPECIALISTS) done.push(...((await one.repair?.(hands, found)) ?? []));
  return done;
}

function report(diagnoses: readonly Diagnosis[], done: readonly string[], style: Style): string {
  const problems = diagnoses.filter((one) => one.level === "problem").length;
  const blocks = diagnoses.map(({ level, code, where, message, command }) =>
    [
      `${level === "problem" ? style.red("problem") : style.dim("note")} ${style.bold(code)} ${where}`,
      `  ${message}`,
      ...(command === undefined ? [] : [`  ${style.cyan(command)}`]),
    ].join("\n"),
  );
  const isGuarded = !diagnoses.some((one) => one.code === "not_guarded");
  const fine = isGuarded ? style.green("Nothing is wrong.") : "Nothing is broken, but nothing is guarded.";
  const verdict = problems === 0 ? fine : style.red(`${plural(problems, "problem")}.`);
  return [...done, ...blocks, verdict].join("\n");
}
