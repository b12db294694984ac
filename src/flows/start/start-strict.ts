import { isHuman } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import type { Hands } from "../../ports/hands.ts";
import { checkTask } from "../check/check-task.ts";

/**
 * The work on a strict task begins with a plan that somebody else has reviewed. An agent is stopped without one; a human
 * may begin, and is told.
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
