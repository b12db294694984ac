import type { GitHands } from "../core/git/hands.ts";
import type { Place } from "../git/discover.ts";
import type { Home } from "../store/layout.ts";
import type { Surroundings } from "./open.ts";

/** Everything here is imported when it is asked for: no reading command needs any of it. */
export function openGitHands(around: Surroundings, place: Place, home: () => Home): GitHands {
  const sites = async () => (await import("./sites.ts")).openSites(around, place, home());
  return {
    sites,
    branches: async () => (await import("../git/branches.ts")).openBranches(await sites(), around.env),
  };
}
