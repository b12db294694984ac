import { jsonIfReadable, namesIfReadable } from "../files/read.ts";
import { claimText, readClaim } from "../model/claim.ts";
import type { SeenClaim } from "../ports/claims.ts";
import { claimsDir, type Home } from "./layout.ts";

/** What was last seen of all claims; whatever cannot be read was not seen. */
export function readSeen(home: Home): SeenClaim[] {
  const folder = claimsDir(home);
  return namesIfReadable(folder)
    .filter((name) => /^T\d{4,}\.json$/.test(name))
    .sort()
    .flatMap((name) => {
      const seen = jsonIfReadable<SeenClaim>(`${folder}/${name}`);
      const claim = seen && readClaim(name.slice(0, -".json".length), claimText(seen.claim));
      return seen && claim ? [{ ...seen, claim }] : [];
    });
}
