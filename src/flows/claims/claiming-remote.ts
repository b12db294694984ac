import type { Claims } from "../../ports/claims.ts";
import type { Hands } from "../../ports/hands.ts";
import { readTrust } from "../trust/read-trust.ts";

export interface ClaimingRemote {
  claims: Claims;
  /** Undefined if there is no remote to claim at: the state was never shared, or the remote is not trusted. */
  remote: string | undefined;
  /** Why claims no longer go to a remote that used to get them. */
  warnings: string[];
}

/** Where claims go: the remote that this clone exchanges its state with, as long as a human trusts it. */
export async function claimingRemote(hands: Hands): Promise<ClaimingRemote> {
  const claims = await hands.git.claims();
  const nowhere = (...warnings: string[]) => ({ claims, remote: undefined, warnings });
  const shared = claims.sharedWith();
  const home = (await hands.git.sites()).all().find((one) => one.home);
  if (shared === undefined || !home) return nowhere();
  const { remotes } = await readTrust(hands, home);
  const found = remotes.find((one) => one.name === shared);
  if (found?.standing === "trusted") return { claims, remote: shared, warnings: [] };
  return found?.standing === "changed"
    ? nowhere(
        `${shared} ${found.why ?? "now points elsewhere"}, so claims are not sent there until a human confirms it: pawl remote trust ${shared}`,
      )
    : nowhere();
}
