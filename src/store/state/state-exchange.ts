import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../files/durable.ts";
import { textIfReadable } from "../../files/read.ts";
import { BINDING, keptMovers, type Place, taskOfWorktree } from "../../git/discover.ts";
import { worktreesOf } from "../../git/repository-files.ts";
import { Git } from "../../git/run-git.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { quoted } from "../../model/text.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Site, Sites } from "../../ports/sites.ts";
import type { BothTips, Merged, Renumbered, StateExchange } from "../../ports/state-exchange.ts";
import { isEmptyState } from "../bulk-place.ts";
import { findHome } from "../home.ts";
import type { Home } from "../layout.ts";
import { compareStates } from "./compare.ts";
import { homeSite } from "./home-site.ts";
import { isComplete } from "./is-complete.ts";
import { lostTip } from "./newest-tip.ts";
import { prepareState } from "./prepare-state.ts";
import { chooseRemote, fetchState, pushState } from "./remote-branch.ts";
import { type StateRepository, tip } from "./state-basics.ts";
import { placeIncoming } from "./state-incoming.ts";
import { commitState } from "./state-repository.ts";

interface Exchanging {
  cwd: string;
  env: Environment;
}

/** The exchange of the state, from any of the repositories that share it; the home's remote is the one that counts. */
export function openStateExchange(
  around: Exchanging,
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
    async address(remote) {
      const git = Git.of("user", around.env, (await site()).commonDir);
      return (await git.line(["remote", "get-url", "--push", remote])) ?? remote;
    },
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
    isHeldBack: () => existsSync(heldBack(home())),
    holdBack(held) {
      if (held) replaceFile(heldBack(home()), "");
      else rmSync(heldBack(home()), { force: true });
    },
    async gather(remote, progress): Promise<BothTips> {
      if (!isComplete(home())) for (const said of prepareState(home(), place, around.env)) progress(said);
      // A clone without a record has nothing to say yet, and begins with what the remote has.
      if (tip(repo()) !== undefined || !isEmptyState(home()))
        await commitState(repo(), `Before the exchange with ${remote}`);
      const theirs = await fetchState(repo(), await site(), remote, progress);
      return { ours: tip(repo()), theirs };
    },
    async takenBack() {
      if ((await lostTip(repo())) === undefined) return undefined;
      await commitState(repo(), "Before what was taken back comes again");
      const [ours, theirs] = [tip(repo()), await lostTip(repo())];
      return theirs === undefined ? undefined : { ours, theirs };
    },
    compare: (tips) => compareStates(repo(), tips),
    async renumber(comparison, paths, at) {
      const { renumber } = await import("./renumber.ts");
      const moved = await renumber(home(), repo(), comparison, paths, at);
      for (const site of (await sites()).all()) for (const one of moved ?? []) rebind(site, one);
      return moved;
    },
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
    showFile: (commit, path) => `git -C ${quoted(home().shown)} show ${quoted(`${commit}:${path}`)}`,
  };
}

const heldBack = ({ local }: Home) => join(local, "not-to-be-published");

/** A worktree that belongs to a task goes on belonging to it, whatever the task is called now. */
function rebind(site: Site, { from, to }: Renumbered): void {
  for (const { gitDir } of worktreesOf(site))
    if (taskOfWorktree(gitDir) === from) replaceFile(join(gitDir, BINDING), `${to}\n`);
  const kept = textIfReadable(keptMovers(site.commonDir, from));
  if (kept === undefined) return;
  replaceFile(keptMovers(site.commonDir, to), kept);
  rmSync(keptMovers(site.commonDir, from));
}
