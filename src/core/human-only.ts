import { isHuman } from "./actor.ts";
import { Failure } from "./failure.ts";
import type { Hands } from "./hands.ts";

/** Refused to agents whatever they claim: what surrounds the process decides, and a claim can only take away. */
export async function refuseAgents(hands: Hands, what: string): Promise<void> {
  const { actor } = await hands.situation("write");
  const agent = hands.agent ?? (isHuman(actor) ? undefined : actor);
  if (agent === undefined) return;
  throw new Failure("refused", "human_only", `Only a human may ${what}; this is ${agent}.`, {
    hint: "Ask the person you work for to run it in their own terminal.",
    details: { agent },
  });
}
