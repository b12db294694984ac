import { isHuman, isShownHuman } from "../../model/actor.ts";
import type { Hands } from "../../ports/hands.ts";

/** Whose shell checks run with is a human's to say: an agent would choose which `npm` is asked. */
export async function keepEnvironment(hands: Hands): Promise<boolean> {
  const at = await hands.situation("write");
  if (hands.agent !== undefined || !isHuman(at.actor)) return false;
  // Where there is none yet, a check would run with the caller's anyway.
  return (await hands.git.installation()).keepEnvironment(isShownHuman(at) ? "always" : "first");
}
