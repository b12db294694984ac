import { isHuman } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import type { Task } from "../../model/records/task.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import { checkTask } from "../check/check-task.ts";

/** A task that is not written down yet has no plan that anybody could have reviewed. */
export async function expectPlanFirst(hands: Hands, { title, profile }: Task): Promise<void> {
  if (profile !== "strict") return;
  const { actor } = await hands.situation("write");
  if (hands.agent === undefined && isHuman(actor)) return;
  throw new Failure(
    "refused",
    "plan_missing",
    "A strict task needs a reviewed plan first; a new one has none.",
    {
      hint: `Write the plan down with the task: pawl task new ${quoted(title)} --profile strict --plan "…"`,
      details: { profile },
    },
  );
}

/**
 * Work on a strict task starts with a plan that somebody else has reviewed. An agent is stopped without one; a human
 * may start, and is warned.
 */
export async function expectReviewedPlan(hands: Hands, id: string): Promise<string[]> {
  const { profile } = await hands.look((reader) => reader.task(id).value);
  if (profile !== "strict") return [];
  const { reasons } = await checkTask(hands, id, "plan");
  const [first] = reasons.filter((one) => one.code.startsWith("plan_"));
  if (!first) return [];
  const message = `${id} is strict and needs a reviewed plan first: ${first.message}`;
  const { actor } = await hands.situation("write");
  if (hands.agent === undefined && isHuman(actor))
    return [`${message} It cannot be approved without one: ${first.command}`];
  throw new Failure("refused", first.code, message, {
    hint: `Before you start: ${first.command}`,
    details: { task: id, profile },
  });
}
