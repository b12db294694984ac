import { isHuman } from "../../model/actor.ts";
import type { Hands } from "../../ports/hands.ts";

/** Whose shell checks run with is a human's to say: an agent would choose which `npm` is asked. */
export async function keepEnvironment(hands: Hands): Promise<boolean> {
  const { actor } = await hands.situation("write");
  if (hands.agent !== undefined || !isHuman(actor)) return false;
  return (await hands.git.installation()).keepEnvironment();
}
