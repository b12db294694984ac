import { Failure } from "../../model/failure.ts";
import type { Hands } from "../../ports/hands.ts";
import { exchangeState } from "./exchange.ts";

/**
 * A clone whose remote has the records begins with them, before it says anything itself: what a branch had before it was
 * guarded is recorded once, by whoever came first. Where nobody answers, it is told what to do.
 */
export async function bringRecords(hands: Hands): Promise<string[]> {
  if (!(await hands.look((reader) => reader.waits()))) return [];
  const git = await hands.git.stateExchange();
  try {
    const remote = await git.remote(undefined);
    const { received } = await exchangeState(hands, git, remote);
    return received === 0 ? [] : [`This project's records were fetched from ${remote}.`];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [
      `The remote has records of this project that could not be fetched: ${error.message} Get them before you continue: pawl sync`,
    ];
  }
}
