import { join } from "node:path";
import type { Config } from "../core/config.ts";
import { protectedPatterns } from "../core/protection.ts";
import { askGitSync } from "../git/run-git.ts";
import { textOf } from "./place.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

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

/** The patterns in force: the policy that is committed on the protected tip, tightened by the main worktree's copy. */
export function readPatterns(site: GuardedSite, tips: ReadonlyMap<string, string>): string[] {
  const remote = line(site, ["symbolic-ref", "-q", `${ORIGIN}HEAD`])?.slice(ORIGIN.length);
  const branch = remote ?? ["main", "master"].find((name) => tips.has(`refs/heads/${name}`));
  const tip = branch && (tips.get(`refs/heads/${branch}`) ?? `${ORIGIN}${branch}`);
  const committed = tip ? ask(site, ["cat-file", "blob", `${tip}:${POLICY}`]) : undefined;
  const copy = site.mainRoot === undefined ? undefined : textOf(join(site.mainRoot, POLICY));
  return protectedPatterns(
    committed?.code === 0 ? site.readConfig(`${branch}:${POLICY}`, committed.out) : undefined,
    copy === undefined ? [] : [site.readConfig(POLICY, copy)],
    remote,
  );
}
