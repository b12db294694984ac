import { join } from "node:path";
import { pause } from "../../files/pause.ts";
import { dropStaleLock } from "../../git/ref-locks.ts";
import { lockOf } from "../../git/refs.ts";
import { Git } from "../../git/run-git.ts";
import { lastWords, type Transfer, transfer, unreachable, whyNotPushed } from "../../git/transfer.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { Site } from "../../ports/sites.ts";
import { gitOf, REF, type StateRepository } from "./state-basics.ts";

const incomingRef = (remote: string) => `refs/pawl/incoming/${remote}`;

/** `origin`, wherever one stands: a state that went another way from each branch would be in pieces. */
export async function chooseRemote(
  site: Site,
  named: string | undefined,
  env: StateRepository["env"],
): Promise<string> {
  const git = Git.of("user", env, site.commonDir);
  const ask = async (...args: string[]) => (await git.line(args)) ?? "";
  const names = (await ask("remote")).split("\n").filter(Boolean);
  if (named !== undefined) {
    if (names.includes(named)) return named;
    throw new Failure("not_found", "no_remote", `${site.name} has no remote ${named}.`, {
      hint: names.length > 0 ? `It has ${names.join(", ")}.` : "Add one with `git remote add`.",
      details: { field: "remote", remotes: names },
    });
  }
  if (names.includes("origin")) return "origin";
  const branch = await ask("symbolic-ref", "-q", "--short", "HEAD");
  const own = branch === "" ? "" : await ask("config", `branch.${branch}.remote`);
  const only = names.includes(own) ? own : names.length === 1 ? names[0] : undefined;
  if (only !== undefined) return only;
  throw new Failure(
    "refused",
    "no_remote",
    names.length === 0
      ? `${site.name} has no remote to exchange its state with.`
      : `${site.name} has several remotes, and none is called origin.`,
    {
      hint:
        names.length === 0
          ? "Add one with `git remote add origin <address>`."
          : `Name one: ${names.map((name) => `pawl sync --remote ${name}`).join(", ")}`,
      details: { remotes: names },
    },
  );
}

/**
 * The address, the credentials and everything else about the remote are the project's own settings; the objects and
 * refs are the state's. No hook runs, nothing is signed, and no other branch or tag is looked at.
 */
export function callFor(
  repo: StateRepository,
  site: Site,
  remote: string,
  progress: Transfer["progress"],
): Transfer {
  return {
    cwd: site.mainRoot ?? site.commonDir,
    env: repo.env,
    extra: { GIT_DIR: repo.gitDir },
    config: [
      `include.path=${join(site.commonDir, "config")}`,
      "core.hooksPath=/dev/null",
      "hook.pawl.enabled=false",
      "push.gpgSign=false",
      "push.followTags=false",
      `remote.${remote}.mirror=false`,
      "submodule.recurse=false",
      "fetch.recurseSubmodules=false",
      "push.recurseSubmodules=no",
    ],
    progress,
  };
}

const PATIENCE_MS = 10_000;

/** What the remote's branch names; undefined when it has no such branch. */
export async function fetchState(
  repo: StateRepository,
  site: Site,
  remote: string,
  progress: Transfer["progress"],
): Promise<string | undefined> {
  const ref = incomingRef(remote);
  const options = ["--no-tags", "--no-prune", "--no-write-fetch-head", "--refmap=", "--no-filter"];
  const call = { ...callFor(repo, site, remote, progress), options };
  for (const started = Date.now(); ; await pause(20 + Math.random() * 100)) {
    step("sync fetch");
    const done = await transfer("fetch", remote, [`+${REF}:${ref}`], call);
    if (done.ok) break;
    if (/couldn't find remote ref/i.test(done.said)) return undefined;
    // Another sync is writing down the same thing, or was killed while it did.
    if (!/cannot lock ref|unable to update local ref/i.test(done.said) || Date.now() - started > PATIENCE_MS)
      throw unreachable(remote, done.said);
    dropStaleLock(lockOf(repo.gitDir, ref));
  }
  return gitOf(repo).commitOf(ref);
}

/** False when the remote has moved on. */
export async function pushState(
  repo: StateRepository,
  site: Site,
  remote: string,
  commit: string,
  progress: Transfer["progress"],
): Promise<boolean> {
  step("sync push");
  const done = await transfer("push", remote, [`${commit}:${REF}`], callFor(repo, site, remote, progress));
  if (done.ok) return true;
  const reason = whyNotPushed(done.said);
  if (reason === "rejected") return false;
  if (reason === "unreachable") throw unreachable(remote, done.said);
  throw new Failure(
    "unavailable",
    "push_refused",
    `The remote ${remote} does not accept the state: ${lastWords(done.said)}`,
    {
      hint: "What came from there is in place here. Make sure you can push the branch pawl/state, then run this again.",
      details: { remote, said: done.said.slice(-2000) },
    },
  );
}
