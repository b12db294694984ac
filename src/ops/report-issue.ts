import * as z from "zod/mini";
import { maybe, prose } from "../model/input.ts";
import { TASK_PARTS } from "../model/records/parts.ts";
import { approval, run } from "../model/records/run.ts";
import { type Known, redact, redactPath } from "../model/redact.ts";
import { indent, paragraphs } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import { examine } from "./doctor.ts";
import { procedure } from "./operation.ts";

const COUNTED = [...TASK_PARTS, run, approval];

export const reportIssue = procedure({
  id: "report-issue",
  summary: "Print the text of a bug report: versions, what the doctor finds, counts of records",
  details:
    "Nothing is sent anywhere. Addresses, secrets and paths outside the repository are replaced; titles and texts\nof your records are left out. Read it before you paste it all the same.",
  examples: ["pawl report-issue", 'pawl report-issue "approve said that main moved, but it did not"'],
  access: "read",
  cli: { positional: ["what"] },
  input: z.strictObject({ what: maybe(prose("what you did, what you expected, and what you saw")) }),

  async rehearse() {
    return [];
  },

  async perform(hands, input) {
    const machine = await hands.world.machine();
    const known = await knownFolders(hands);
    const show = (text: string) => redact(text, known);
    const site = (await hands.git.sites()).here();
    const guard = (await hands.git.guard()).inspect(site);
    return {
      data: {
        report: {
          what: input.what === undefined ? undefined : show(input.what),
          pawl: machine.pawl,
          node: machine.node,
          git: show(machine.git),
          system: show(machine.system),
          agent: hands.agent?.split(":")[1],
          guard: guard.installed,
          findings: (await examine(hands)).map(({ code, level, where, message }) => ({
            code,
            level,
            where: redactPath(where, known),
            message: show(message),
          })),
          ...(await countRecords(hands)),
        },
      },
    };
  },

  text: ({ report }) =>
    paragraphs(
      `## What happened\n\n${report.what ?? "(what you did, what you expected, and what you saw)"}`,
      `## Where\n\n${table([
        ["pawl", report.pawl],
        ["node", report.node],
        ["git", report.git],
        ["system", report.system],
        ["run by", report.agent ?? "a human"],
        ["guard", report.guard ? "installed" : "not installed"],
        ["records", countsOf(report.records)],
        ["unreadable records", String(report.unreadable)],
      ])}`,
      `## What the doctor says\n\n${report.findings.length === 0 ? "Nothing was found." : report.findings.map((one) => `* ${one.level} \`${one.code}\` ${one.where}\n${indent(one.message)}`).join("\n")}`,
    ),
});

const table = (rows: readonly (readonly [string, string])[]) =>
  [
    "| | |",
    "|---|---|",
    ...rows.map(([name, value]) => `| ${name} | ${value.replaceAll("|", "\\|")} |`),
  ].join("\n");

const countsOf = (records: Readonly<Record<string, number>>) =>
  Object.entries(records)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ");

/** A report may distinguish the repositories, but must not reveal their names or paths. */
async function knownFolders(hands: Hands): Promise<Known> {
  const sites = await hands.git.sites();
  const here = sites.here();
  const folders = sites.all().flatMap(({ commonDir, mainRoot }, index) => {
    const name = commonDir === here.commonDir ? "repository" : `repository-${index + 1}`;
    const inside = mainRoot !== undefined && commonDir.startsWith(mainRoot);
    return [
      ...(mainRoot ? [{ path: mainRoot, name }] : []),
      ...(inside ? [] : [{ path: commonDir, name: `${name}-git` }]),
    ];
  });
  return { folders };
}

async function countRecords(hands: Hands) {
  return hands.look((reader) => {
    const { tasks, problems } = reader.tasks();
    const names = reader.taskNames();
    const records: Record<string, number> = { task: names.length };
    for (const kind of COUNTED)
      records[kind.name] = names.reduce((sum, task) => sum + reader.partNames(kind, task).length, 0);
    records.note = reader.noteNames().length;
    records.repository = reader.repositories().records.length;
    const statuses: Record<string, number> = {};
    for (const { status } of tasks) statuses[status] = (statuses[status] ?? 0) + 1;
    return { records, statuses, unreadable: problems.length };
  });
}
