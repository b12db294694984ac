import * as z from "zod/mini";
import { gatherAuthors } from "../judge/authors.ts";
import { change } from "../judge/change.ts";
import { findingLine } from "../judge/findings.ts";
import { getPart } from "../judge/which-task.ts";
import { humanOnly, isHuman } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { line, prose, taskField } from "../model/input.ts";
import { checkFindingStep, isAuthor, mayJudge, whyNoJudge } from "../model/lifecycle.ts";
import { finding } from "../model/records/parts.ts";
import { operation } from "./operation.ts";

/** What becomes of a finding against its first verdict needs a reason. */
export const findingWithReason = z.strictObject({
  finding: line("the finding", "F", 40),
  note: prose("the reason"),
  task: taskField(),
});

/** `defer` and `wontfix` are the same step with another word: not fixed, by somebody who may say so, with a reason. */
export function settingAside(spec: {
  id: string;
  to: "deferred" | "wontfix";
  summary: string;
  examples: string[];
}) {
  return operation({
    ...spec,
    details:
      "Needs a reason. An agent that wrote the work under review cannot do it; another reviewer or a human can.",
    access: "write",
    cli: { positional: ["finding"] },
    input: findingWithReason,
    milestone: ({ finding: value }) => `${value.id}: ${spec.to}`,

    gather(reader, input, at) {
      const stored = getPart(reader, finding, input.finding, input.task, at);
      return { stored, authors: gatherAuthors(reader, taskOf(stored.value.id)) };
    },

    decide(input, { stored, authors }, at) {
      checkFindingStep(stored.value, spec.to);
      if (!mayJudge(at.actor, authors, at.minds)) {
        if (isHuman(at.actor))
          throw humanOnly(`decide that ${stored.value.id} need not be fixed`, at, { field: "finding" });
        throw new Failure(
          "refused",
          "author_may_not",
          isAuthor(at.actor, authors)
            ? `${at.actor} wrote the work that ${stored.value.id} is about.`
            : `${whyNoJudge(at, authors)}, and ${stored.value.id} is about it.`,
          {
            hint: "Fix it, or ask a reviewer or a human to decide.",
            details: { actor: at.actor, authors },
          },
        );
      }
      const { effect, value } = change(
        finding,
        stored,
        { status: spec.to, resolution: input.note, resolved_by: at.actor },
        at,
        `${stored.value.status} → ${spec.to}`,
      );
      return { data: { finding: value }, effects: [effect] };
    },

    text: ({ finding: value }) => findingLine(value),
  });
}
