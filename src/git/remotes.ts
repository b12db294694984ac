import type { Environment } from "../model/environment.ts";
import type { Remotes, Upstream } from "../ports/remotes.ts";
import type { Site } from "../ports/sites.ts";
import { readRemembered, readRoutes, untrustworthy, writeRemembered } from "./routes.ts";
import { Git } from "./run-git.ts";
import { transfer, unreachable, whyNotPushed } from "./transfer.ts";

export function openRemotes(env: Environment): Remotes {
  const callIn = (site: Site, progress: (line: string) => void) => ({
    cwd: site.mainRoot ?? site.commonDir,
    env,
    extra: { GIT_DIR: site.commonDir },
    progress,
  });
  return {
    remoteOf: (site, branch) => remoteOf(site, branch, env),
    routes: (site) => readRoutes(site, env),
    untrustworthy,
    remembered: readRemembered,
    remember: writeRemembered,
    async fetch(site, remote, progress) {
      const done = await transfer("fetch", remote, [], callIn(site, progress));
      if (!done.ok) throw unreachable(remote, done.said);
    },
    async push(site, remote, refspecs, progress) {
      const done = await transfer("push", remote, refspecs, callIn(site, progress));
      return done.ok ? { ok: true } : { ...done, reason: whyNotPushed(done.said) };
    },
  };
}

async function remoteOf(site: Site, branch: string, env: Environment): Promise<Upstream | undefined> {
  const git = Git.of("user", env, site.commonDir);
  const ask = (...args: string[]) => git.line(args);
  const names = ((await ask("remote")) ?? "").split("\n");
  const own = await ask("config", `branch.${branch}.remote`);
  // A branch may follow another one of the same repository, written as the remote "."; that is published nowhere.
  if (own !== undefined && own !== "." && names.includes(own)) {
    const merge = (await ask("config", `branch.${branch}.merge`))?.replace(/^refs\/heads\//, "");
    return upstream(own, merge ?? branch);
  }
  return own === undefined && names.includes("origin") ? upstream("origin", branch) : undefined;
}

const upstream = (remote: string, ref: string): Upstream => ({
  remote,
  ref,
  tracking: `refs/remotes/${remote}/${ref}`,
});
