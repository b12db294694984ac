import * as z from "zod/mini";
import { findingLine, gatherFindings } from "../judge/findings.ts";
import { beyondEnd, newFindings } from "../judge/new-findings.ts";
import { objects, taskField } from "../model/input.ts";
import { plural } from "../model/text.ts";
import { findingFields, seenBy } from "./finding-add.ts";
import { operation } from "./operation.ts";

/** More than anybody reads in one go; a branch with more findings needs a conversation. */
const MOST = 100;

export const findingBatch = operation({
  id: "finding.batch",
  summary: "Record several review findings in one step: all of them, or none if one is invalid",
  details:
    'Each has the fields of `pawl finding add`. Findings that already exist are reported and not added again.\nThe file holds a JSON list: [{"text": "…", "severity": "high", "file": "src/upload.ts", "line": 40}]',
  examples: ["pawl finding batch T0001 --findings-file findings.json"],
  access: "write",
  cli: { positional: ["task"], texts: ["findings"] },
  input: z.strictObject({
    task: taskField(),
    findings: objects(findingFields, "the findings, as a list", MOST),
  }),
  milestone: ({ findings }) => `${plural(findings.length, "finding")} recorded`,

  observe: (world, input, at, reader) => seenBy(world, input.task, input.findings, at, reader),
  gather: gatherFindings,

  decide({ findings }, facts, at) {
    const { added, repeated, effects } = newFindings(findings, facts, at);
    return {
      data: { findings: added, known: repeated.map((one) => one.id) },
      effects,
      warnings: [
        ...repeated.map((one) => `${one.id} already says this and is open; it was not added again.`),
        ...beyondEnd(findings, facts),
      ],
    };
  },

  text: ({ findings }) => findings.map(findingLine).join("\n") || "Nothing new.",
});
