import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { replaceFile, replaceQuickly } from "../files/durable.ts";
import { lineIfReadable, namesIfReadable } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { step } from "../model/steps.ts";
import type { Claims } from "../ports/claims.ts";
import type { Site } from "../ports/sites.ts";
import { claimsDir, type Home } from "./layout.ts";
import { readSeen } from "./seen-claims.ts";
import type { StateRepository } from "./state/state-basics.ts";

interface Around {
  env: Environment;
  home: Home;
  /** Whose remotes they are. */
  site(): Promise<Site>;
}

const IS_TASK = /^T\d{4,}$/;

/** What is known here is read and written at once; what talks to the remote is loaded when it does. */
export function openClaims({ env, home, site }: Around): Claims {
  const folder = claimsDir(home);
  const repo: StateRepository = { state: home.state, gitDir: home.gitDir, env };
  const marks = join(folder, "marked");
  return {
    machine: hostname(),
    sharedWith: () => lineIfReadable(join(folder, "remote")),
    share(remote) {
      if (lineIfReadable(join(folder, "remote")) !== remote)
        replaceFile(join(folder, "remote"), `${remote}\n`);
    },
    async look(remote, progress) {
      const { lookAtClaims } = await import("./claims-remote.ts");
      return lookAtClaims({ repo, site: await site(), remote, progress });
    },
    async push(remote, wish, progress) {
      const { pushClaim } = await import("./claims-remote.ts");
      return pushClaim({ repo, site: await site(), remote, progress }, wish);
    },
    remembered: () => readSeen(home),
    remember(seen) {
      step("claim remember");
      const text = JSON.stringify({ ...seen, seen: new Date().toISOString() });
      replaceQuickly(join(folder, `${seen.claim.task}.json`), text);
    },
    forget: (task) => rmSync(join(folder, `${task}.json`), { force: true }),
    mark(task) {
      step("claim mark");
      replaceFile(join(marks, task), "");
    },
    unmark(task) {
      step("claim unmark");
      rmSync(join(marks, task), { force: true });
    },
    marked: () => namesIfReadable(marks).filter((name) => IS_TASK.test(name)),
    forgetAll: () => rmSync(folder, { recursive: true, force: true }),
  };
}
