import { basename, dirname, join } from "node:path";
import { hooksDir } from "../git/guard-files.ts";
import { printPolicy } from "../model/guard-policy.ts";
import type { Facts } from "./facts.ts";
import { policyFile } from "./made-policy.ts";
import type { OwnFile } from "./place.ts";
import { type HookRemote, type Programs, renderHooks } from "./render-hooks.ts";

/** What is not a matter of policy: each clone has its own. */
export interface MadeFor {
  programs: Programs;
  remotes: readonly HookRemote[];
}

export interface ActivationPlan {
  /** In the order in which they are written: whatever comes later relies on what came before. */
  files: OwnFile[];
  /** Hooks of ours for which there is nothing to do any more. */
  obsolete: string[];
}

/** Pure: the same facts give the same bytes, so that a second activation finds nothing to do. */
export function planActivation(facts: Facts, made: MadeFor, present: readonly string[]): ActivationPlan {
  const { commonDir } = facts;
  const pawl = join(commonDir, "pawl");
  // A hook that somebody put into our folder is moved to where it belongs, and so becomes one to chain to.
  const previous = [
    ...new Set([...facts.previousHooks, ...facts.foreign.filter((name) => !/\./.test(name))]),
  ];
  const { guard, files } = renderHooks({
    ...made.programs,
    ...facts.policy,
    remotes: made.remotes,
    ignoreCase: facts.settings.ignoreCase,
    previous,
  });
  const hooks = [...files].map(([name, text]) => ({
    path: join(hooksDir(commonDir), name),
    text,
    runs: true,
  }));
  return {
    files: [
      { path: policyFile(commonDir), text: printPolicy(facts.policy), runs: false },
      ...(facts.settings.previousPath === undefined
        ? []
        : [{ path: join(pawl, "previous"), text: `${facts.settings.previousPath}\n`, runs: false }]),
      { path: join(pawl, "guard"), text: guard, runs: true },
      ...hooks,
      ...backups(facts, previous).map((path) => ({ path, text: guard, runs: true })),
    ],
    obsolete: present
      .filter((name) => !files.has(name) && !facts.foreign.includes(name))
      .map((name) => join(hooksDir(commonDir), name)),
  };
}

/**
 * Where git looks when somebody takes our setting away: its own folder, and husky's, which a re-run of husky leaves
 * alone. A hook of the user's own that is there already is not touched.
 */
function backups({ commonDir, previousDir, settings }: Facts, previous: readonly string[]): string[] {
  const husky =
    settings.previousPath !== undefined && basename(dirname(previousDir)) === ".husky" && previous.length > 0;
  const dirs = [join(commonDir, "hooks"), ...(husky ? [previousDir] : [])];
  const taken = previous.includes("reference-transaction") ? previousDir : undefined;
  return dirs.filter((dir) => dir !== taken).map((dir) => join(dir, "reference-transaction"));
}
