import { change } from "../judge/change.ts";
import { findingLine } from "../judge/findings.ts";
import { getPart } from "../judge/which-task.ts";
import { taskOf } from "../model/ids.ts";
import { checkFindingStep } from "../model/lifecycle.ts";
import { finding } from "../model/records/parts.ts";
import { findingWithReason } from "./finding-set-aside.ts";
import { operation } from "./operation.ts";

export const findingReopen = operation({
  id: "finding.reopen",
  summary: "Reopen a settled finding, with a reason",
  examples: ['pawl finding reopen F1 --note "still happens with an empty file"'],
  access: "write",
  cli: { positional: ["finding"] },
  input: findingWithReason,
  milestone: ({ finding: value }) => `${value.id}: open again`,

  gather(reader, input, at) {
    const stored = getPart(reader, finding, input.finding, input.task, at);
    return { stored, plan: reader.task(taskOf(stored.value.id)).value.plan };
  },

  decide(input, { stored, plan }, at) {
    const { value: known } = stored;
    checkFindingStep(known, "open");
    const reason = `- ${at.now}, ${at.actor}, was ${known.status}: ${input.note.replace(/\n/g, "\n  ")}`;
    const { effect, value } = change(
      finding,
      stored,
      {
        status: "open",
        reopened: known.reopened + 1,
        reopen_reasons: [known.reopen_reasons, reason].filter(Boolean).join("\n"),
        reopened_at: at.commit,
        plan_digest: known.kind === "plan" ? at.sha256(plan) : undefined,
        resolved_commit: undefined,
        resolved_by: undefined,
        integrated_commit: undefined,
      },
      at,
      `${known.status} → open`,
    );
    return { data: { finding: value }, effects: [effect] };
  },

  text: ({ finding: value }) => findingLine(value),
});
