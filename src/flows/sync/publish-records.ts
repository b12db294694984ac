import { Failure } from "../../model/failure.ts";
import type { Hands } from "../../ports/hands.ts";
import { exchangeState } from "./exchange.ts";
import { outline } from "./first-publish.ts";

interface Published {
  /** The remote that has the records now. */
  remote: string | undefined;
  warnings: string[];
}

/** What a request would publish beside its branch; undefined where nobody reads the records and nobody has them. */
export async function recordsToPublish(hands: Hands, checked: boolean): Promise<string | undefined> {
  const git = await hands.git.stateExchange();
  const shared = await git.sharedWith();
  if (shared === undefined && !checked) return undefined;
  return outline(hands, git, shared ?? (await git.remote(undefined)));
}

/**
 * Sends the records to where a check of the request reads them. Where they never were, a human is asked first. The
 * request itself is worth pushing without them, so a failure here is reported and stops nothing.
 */
export async function publishRecords(hands: Hands, checked: boolean): Promise<Published> {
  const git = await hands.git.stateExchange();
  const shared = await git.sharedWith();
  if (shared === undefined && !checked) return { remote: undefined, warnings: [] };
  try {
    const remote = shared ?? (await git.remote(undefined));
    hands.say(`Publishing the records to ${remote}, for the request's checks …`);
    await exchangeState(hands, git, remote);
    return { remote, warnings: [] };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return {
      remote: undefined,
      warnings: [
        `The records were not published: ${error.message} The request's checks need them: pawl sync`,
      ],
    };
  }
}
