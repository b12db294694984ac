import { existsSync, realpathSync } from "node:fs";
import { showGone } from "../git/exclude.ts";
import type { Config } from "../model/config.ts";
import type { Environment } from "../model/environment.ts";
import type { Guard } from "../ports/guard.ts";
import type { Site } from "../ports/sites.ts";
import { activate, rehearse } from "./activate.ts";
import { readBefore } from "./before.ts";
import { deactivate, rehearseDeactivation } from "./deactivate.ts";
import { refuseUnsupported } from "./facts.ts";
import { inspect } from "./inspect.ts";
import type { GuardedSite } from "./policy.ts";
import { mayBeOutdated } from "./quick-look.ts";
import type { Programs } from "./render-hooks.ts";

export interface GuardAround {
  env: Environment;
  programs: Programs;
  readConfig(where: string, text: string): Config;
}

export function openGuard({ env, programs, readConfig }: GuardAround): Guard {
  const at = (site: Site): GuardedSite => ({
    commonDir: realpathSync(site.commonDir),
    mainRoot: site.mainRoot,
    env,
    readConfig,
  });
  return {
    activate: (site, remotes, loosening = "never") => activate(at(site), programs, loosening, remotes),
    renew: (site, remotes, loosening) =>
      activate(at(site), recorded(at(site).commonDir) ?? programs, loosening, remotes),
    expectSupported: (site) => refuseUnsupported(at(site)),
    mayBeOutdated: (site) => mayBeOutdated(site.commonDir),
    rehearse: (site) => rehearse(at(site), programs),
    deactivate(site) {
      const done = deactivate(at(site).commonDir);
      if (site.mainRoot !== undefined) showGone(site.commonDir, site.mainRoot);
      return done;
    },
    rehearseDeactivation: (site) => rehearseDeactivation(at(site).commonDir),
    inspect: (site) => inspect(at(site)),
  };
}

/** What was recorded at the activation, if it is still there. */
function recorded(commonDir: string): Programs | undefined {
  const known = readBefore(commonDir)?.programs;
  return known && existsSync(known.node) && existsSync(known.program) ? known : undefined;
}
