import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import type { Site, Sites } from "../core/git/sites.ts";
import type { BothTips, Merged, StateExchange } from "../core/git/state-exchange.ts";
import type { Situation } from "../core/operation.ts";
import { quoted } from "../core/text.ts";
import { replaceFile } from "../disk/durable.ts";
import type { Place } from "../git/discover.ts";
import { commitState, type StateRepository, tip } from "../git/state-repository.ts";
import { compareStates } from "../git/state-sync/compare.ts";
import { chooseRemote, fetchState, incomingRef, pushState } from "../git/state-sync/remote-branch.ts";
import { isEmptyState } from "../store/bulk-place.ts";
import { findHome } from "../store/home.ts";
import type { Home } from "../store/layout.ts";
import type { Surroundings } from "./open.ts";
import { isComplete } from "./prepare.ts";
import { prepareState } from "./prepare-state.ts";
import { placeIncoming } from "./state-incoming.ts";

/** The exchange of the state, from any of the repositories that share it; the home's remote is the one that counts. */
export function openStateExchange(
  around: Pick<Surroundings, "cwd" | "env" | "progress">,
  place: Place,
  sites: () => Promise<Sites>,
): StateExchange {
  // Found anew each time: the first exchange of a fresh clone makes it.
  const home = () => findHome(place, around.cwd);
  const repo = (at: Home = home()): StateRepository => ({
    state: at.state,
    gitDir: at.gitDir,
    env: around.env,
  });
  const site = async () => homeSite(await sites());
  return {
    remote: async (named) => chooseRemote(await site(), named, around.env),
    async sharedWith() {
      try {
        const remote = await chooseRemote(await site(), undefined, around.env);
        const theirs = await fetchState(repo(), await site(), remote, () => {});
        return theirs === undefined ? undefined : remote;
      } catch (error) {
        // Where nobody answers, nobody knows; whoever goes on to push is told why that fails.
        if (error instanceof Failure) return undefined;
        throw error;
      }
    },
    async gather(remote, progress): Promise<BothTips> {
      if (!isComplete(home())) for (const said of prepareState(home(), place, around.env)) progress(said);
      // A clone without a record has nothing to say yet, and begins with what the remote has.
      if (tip(repo()) !== undefined || !isEmptyState(home()))
        await commitState(repo(), `Before the exchange with ${remote}`);
      const theirs = await fetchState(repo(), await site(), remote, progress);
      return { ours: tip(repo()), theirs };
    },
    compare: (tips) => compareStates(repo(), tips),
    apply: (merged: Merged, at: Situation) => placeIncoming(home(), repo(), merged, at),
    async publish(remote, tips, progress) {
      const ours = tip(repo());
      if (ours === undefined || ours === tips.theirs) return "nothing";
      return (await pushState(repo(), await site(), remote, ours, progress)) ? "pushed" : "behind";
    },
    async adoptName(name) {
      const { commonDir, name: current } = await site();
      const file = join(commonDir, "pawl", "name");
      if (current !== name) replaceFile(file, `${name}\n`);
    },
    showTheirs: (remote, path) =>
      `git -C ${quoted(home().shown)} show ${quoted(`${incomingRef(remote)}:${path}`)}`,
  };
}

function homeSite(sites: Sites): Site {
  const found = sites.all().find((one) => one.home);
  if (found) return found;
  throw new Failure("unavailable", "home_missing", "The repository that the state belongs to is not there.", {
    hint: "Run this in that repository.",
  });
}
