import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { readTrust } from "../trust/read-trust.ts";
import { type Ledger, namesOf } from "./ledger.ts";
import { judgingSignatures, type Subject } from "./subject.ts";
import { ownClones } from "./unlocks.ts";

/** A repository as seen from a working clone, whose own logs, files and settings count. */
export async function subjectHere(hands: Hands, site: Site, ledger: Ledger, ask: boolean): Promise<Subject> {
  const { remotes } = await readTrust(hands, site);
  return {
    site,
    names: namesOf(ledger, site),
    ledger,
    manner: { view: "here", ask, clones: await ownClones(hands) },
    remotes,
    ...(await judgingSignatures(hands)),
  };
}
