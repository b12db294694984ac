import { isHuman } from "../model/actor.ts";
import { Failure, stoppedByHuman } from "../model/failure.ts";
import type { Hands } from "../ports/hands.ts";

/** Refused to agents whatever they claim: what surrounds the process decides, and a claim can only take away. */
export async function refuseAgents(hands: Hands, what: string): Promise<void> {
  const { actor } = await hands.situation("write");
  const agent = hands.agent ?? (isHuman(actor) ? undefined : actor);
  if (agent === undefined) return;
  // On a terminal it may be a human after all, in a shell that an agent once started.
  const seen = (await hands.ask("")) === undefined ? undefined : hands.agentSeen;
  const own = "Ask the person you work for to run it in their own terminal.";
  throw new Failure("refused", "human_only", `Only a human may ${what}; this is ${agent}.`, {
    hint: seen === undefined ? own : `${own} In this one, ${seen}; open a terminal that no agent started.`,
    details: { agent },
  });
}

/** Known before anything slow is begun: asked nothing, a terminal answers nothing, and no terminal does not answer. */
export async function expectTerminal(hands: Hands): Promise<void> {
  if ((await hands.ask("")) === undefined) throw noTerminal();
}

/** What a human types on the terminal; anything else than the wanted word is a no. */
export async function confirmTyped(hands: Hands, question: string, wanted: string): Promise<void> {
  checkTyped(await hands.ask(question), wanted, (typed) => typed.trim() === wanted);
}

export function checkTyped(
  typed: string | undefined,
  wanted: string,
  isWanted: (typed: string) => boolean,
  left = "nothing was changed.",
): void {
  if (typed === undefined) throw noTerminal();
  if (isWanted(typed)) return;
  throw new Failure("refused", "not_confirmed", `Not confirmed: "${typed.slice(0, 40)}" is not ${wanted}.`, {
    hint: `${left.charAt(0).toUpperCase()}${left.slice(1)}`,
    details: { wanted },
  });
}

/** Who stops at this question leaves something behind, which `left` says. */
export async function leaving<T>(asking: Promise<T>, left: string): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw error instanceof Failure && error.kind === "interrupted" ? stoppedByHuman(left) : error;
  }
}

function noTerminal(): Failure {
  return new Failure("refused", "no_terminal", "There is no terminal on which a human can confirm it.", {
    hint: "Run it in a terminal, not through a pipe, a script or an agent.",
  });
}
