import { join } from "node:path";
import { textIfPresent } from "../files/read.ts";
import { filesOf, symbolicFileOf, targetOf } from "../git/refs.ts";
import { Git } from "../git/run-git.ts";
import type { Config, FormatCheck } from "../model/config.ts";
import type { Environment } from "../model/environment.ts";
import { type GuardPolicy, guardPolicy } from "../model/guard-policy.ts";
import { refOfBranch } from "../model/naming.ts";
import { POLICY_FILE } from "../model/paths.ts";
import { USUAL } from "../model/protection.ts";
import { readBefore } from "./before.ts";
import { isKnownTip } from "./tips.ts";

/** One repository, and how to ask git about it. */
export interface GuardedSite {
  commonDir: string;
  mainRoot: string | undefined;
  env: Environment;
  readConfig(where: string, text: string): Config;
}

const ORIGIN = "refs/remotes/origin/";

/** What everybody's git says of the repository, whatever this environment says. */
export const ask = (site: GuardedSite, args: readonly string[]) =>
  Git.at("shared", site.env, site).askSync(args);

export const line = (site: GuardedSite, args: readonly string[]) =>
  Git.at("shared", site.env, site).lineSync(args);

/** The branches by name with their tips. */
export function branchTips(site: GuardedSite): Map<string, string> {
  const listed = ask(site, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"]).out;
  const rows = listed.split("\n").filter((row) => row !== "");
  return new Map(rows.map((row) => [row.slice(row.indexOf(" ") + 1), row.slice(0, row.indexOf(" "))]));
}

export interface PolicyInForce {
  policy: GuardPolicy;
  /** The files that say which policy that is: while none of them changes, neither does the policy. */
  inputs: string[];
  /** The branch that it comes from. */
  branch: string | undefined;
  /** What that branch itself has of format checks. They are commands, so that a copy in a worktree is not enough. */
  committedFormat: FormatCheck[];
  /** That is the one it came from before, and it is where it went before the guard's eyes. */
  explained: boolean;
}

/** The policy that is committed on the protected tip, tightened by the main worktree's copy. */
export function readPolicyInForce(site: GuardedSite, tips: ReadonlyMap<string, string>): PolicyInForce {
  const { commonDir, mainRoot } = site;
  const remote = targetOf(commonDir, `${ORIGIN}HEAD`)?.slice(ORIGIN.length);
  const branch = remote ?? USUAL.find((name) => tips.has(refOfBranch(name)));
  const tip = branch && (tips.get(refOfBranch(branch)) ?? `${ORIGIN}${branch}`);
  const committed = tip ? ask(site, ["cat-file", "blob", `${tip}:${POLICY_FILE}`]) : undefined;
  const copy = mainRoot === undefined ? undefined : textIfPresent(join(mainRoot, POLICY_FILE));
  const own = refOfBranch(branch ?? "main");
  const policy =
    committed?.code === 0 ? site.readConfig(`${branch}:${POLICY_FILE}`, committed.out) : undefined;
  return {
    committedFormat: policy?.format ?? [],
    policy: guardPolicy(policy, copy === undefined ? [] : [site.readConfig(POLICY_FILE, copy)], remote),
    inputs: [
      ...filesOf(commonDir, own),
      symbolicFileOf(commonDir, `${ORIGIN}HEAD`),
      ...(branch && !tips.has(own) ? filesOf(commonDir, `${ORIGIN}${branch}`) : []),
      ...(mainRoot === undefined ? [] : [join(mainRoot, POLICY_FILE)]),
    ],
    branch,
    explained:
      branch !== undefined &&
      branch === readBefore(commonDir)?.policyFrom &&
      isKnownTip(commonDir, refOfBranch(branch), tip),
  };
}
