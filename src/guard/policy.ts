import { join } from "node:path";
import { textIfPresent } from "../files/read.ts";
import { filesOf, symbolicFileOf, targetOf } from "../git/refs.ts";
import { askGitSync } from "../git/run-git.ts";
import type { Config, FormatCheck } from "../model/config.ts";
import type { Environment } from "../model/environment.ts";
import { type GuardPolicy, guardPolicy } from "../model/guard-policy.ts";
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

const POLICY = ".pawl/config.yaml";
const ORIGIN = "refs/remotes/origin/";

/** Git in the repository as a whole; a bare one is named outright, because git may be told not to recognise it. */
export function ask(site: GuardedSite, args: readonly string[]) {
  const cwd = site.mainRoot ?? site.commonDir;
  const bare = site.mainRoot === undefined ? { extra: { GIT_DIR: site.commonDir } } : {};
  return askGitSync(args, { cwd, env: withoutOverrides(site.env), ...bare });
}

/** An agent's shell may switch hooks off for every git it starts; what we ask for is what everybody else gets. */
export function withoutOverrides(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)$/.test(name)),
  );
}

export function line(site: GuardedSite, args: readonly string[]): string | undefined {
  const { code, out } = ask(site, args);
  return code === 0 ? out.trim() || undefined : undefined;
}

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
  const branch = remote ?? USUAL.find((name) => tips.has(`refs/heads/${name}`));
  const tip = branch && (tips.get(`refs/heads/${branch}`) ?? `${ORIGIN}${branch}`);
  const committed = tip ? ask(site, ["cat-file", "blob", `${tip}:${POLICY}`]) : undefined;
  const copy = mainRoot === undefined ? undefined : textIfPresent(join(mainRoot, POLICY));
  const own = `refs/heads/${branch ?? "main"}`;
  const policy = committed?.code === 0 ? site.readConfig(`${branch}:${POLICY}`, committed.out) : undefined;
  return {
    committedFormat: policy?.format ?? [],
    policy: guardPolicy(policy, copy === undefined ? [] : [site.readConfig(POLICY, copy)], remote),
    inputs: [
      ...filesOf(commonDir, own),
      symbolicFileOf(commonDir, `${ORIGIN}HEAD`),
      ...(branch && !tips.has(own) ? filesOf(commonDir, `${ORIGIN}${branch}`) : []),
      ...(mainRoot === undefined ? [] : [join(mainRoot, POLICY)]),
    ],
    branch,
    explained:
      branch !== undefined &&
      branch === readBefore(commonDir)?.policyFrom &&
      isKnownTip(commonDir, `refs/heads/${branch}`, tip),
  };
}
