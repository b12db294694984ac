import * as z from "zod/mini";
import { findingPlace } from "../judge/findings.ts";
import { getTask } from "../judge/which-task.ts";
import { choice, flag, many, maybe, taskField } from "../model/input.ts";
import { FINDING_STATUSES, finding, REVIEW_KINDS, SEVERITIES } from "../model/records/parts.ts";
import { indent, statusColour, warningsOf } from "../model/text.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const findingList = operation({
  id: "finding.list",
  summary: "List the findings of a task or of all tasks, including settled ones",
  examples: [
    "pawl finding list",
    "pawl finding list --status open --task T0001 --json",
    "pawl finding list --all --status deferred",
  ],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    all: flag("of every task, also of those that are merged"),
    status: many(choice(FINDING_STATUSES, "only findings with this status")),
    severity: many(choice(SEVERITIES, "only findings of this severity")),
    kind: maybe(choice(REVIEW_KINDS, "only findings of this kind of review")),
  }),

  gather(reader, input, at) {
    const { tasks, problems } = input.all ? reader.tasks() : oneTask(reader, input.task, at);
    const found = tasks.map((one) => reader.parts(finding, one.id));
    return {
      findings: found.flatMap((one) => one.records.map((record) => record.value)),
      problems: [...problems, ...found.flatMap((one) => one.problems)],
    };
  },

  decide(input, { findings: found, problems }) {
    const findings = found.filter(
      (one) =>
        (!input.status || input.status.includes(one.status)) &&
        (!input.severity || input.severity.includes(one.severity)) &&
        (!input.kind || input.kind === one.kind),
    );
    return { data: { findings }, warnings: warningsOf(problems) };
  },

  text: ({ findings }, style) =>
    findings.length === 0
      ? "no findings"
      : findings
          .map((one) =>
            [
              `${style.bold(one.id)}  ${statusColour(one.status, style)}  ${one.severity}  ${one.kind}  ${findingPlace(one)}`.trimEnd(),
              indent(one.text),
              one.fix && indent(`fix: ${one.fix}`),
              one.resolution && indent(`settled: ${one.resolution}`),
              one.reopen_reasons && indent(`reopened ${one.reopened} ×: ${one.reopen_reasons}`),
            ]
              .filter(Boolean)
              .join("\n"),
          )
          .join("\n\n"),
});

function oneTask(reader: Reader, wanted: string | undefined, at: Situation) {
  const { id } = reader.task(getTask(reader, wanted, at)).value;
  return { tasks: [{ id }], problems: [] };
}
