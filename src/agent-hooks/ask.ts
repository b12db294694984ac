import { spawnSync } from "node:child_process";
import { relative } from "node:path";
import { findAgentsAbove } from "../files/agent-above.ts";
import { Git, type GitAnswer } from "../git/run-git.ts";
import { STATUS } from "../git/strays.ts";
import type { Actor } from "../model/actor.ts";
import { readConfigText } from "../model/config.ts";
import type { Environment } from "../model/environment.ts";
import { matchesPattern } from "../model/naming.ts";
import { POLICY_FILE } from "../model/paths.ts";
import { findHome } from "../store/home.ts";
import { isRunGuard } from "../store/run-guards.ts";
import type { Spot } from "./facts.ts";

const PATIENCE_MS = 8_000;

/** The program beside this hook, in a process of its own: what it prints and how it fails is its own matter. */
export function askPawl(program: string, args: readonly string[], cwd: string, env: Environment) {
  // This variable alone doubles the start of Node 20, and nothing is fetched here.
  const { NODE_EXTRA_CA_CERTS: _unused, ...rest } = env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd,
    env: rest,
    encoding: "utf8",
    timeout: PATIENCE_MS,
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { code: status, out: stdout ?? "", err: stderr ?? "" };
}

/** The agents that this hook descends from, as far as the guard of a run. */
export function agentsAround(spot: Spot): Actor[] {
  const home = findHome(spot, spot.commonDir);
  return findAgentsAbove(process.ppid, (run, pid) => isRunGuard(home, run, pid)).map((one) => one.actor);
}

function askIsIgnored(path: string, cwd: string, env: Environment): boolean {
  return askGit(["check-ignore", "-q", "--", path], cwd, env)?.code === 0;
}

/** Paths that differ from what is committed, relative to the worktree's top. */
export function askChangedPaths(root: string, env: Environment): string[] {
  const status = askGit(["status", "--porcelain=v1", "-z", "--no-renames"], root, env);
  return (status?.out ?? "")
    .split("\0")
    .filter((entry) => entry.length > 3)
    .map((entry) => entry.slice(3));
}

/**
 * Whether an agent may write this file although nobody works in this checkout: git ignores it, or, where the committed
 * policy names places for scratch files, it lies in one of them and git does not track it.
 */
export async function askIsScratch(path: string, cwd: string, env: Environment): Promise<boolean> {
  const top = askGit(["rev-parse", "--show-toplevel"], cwd, env)?.out.trim();
  const places = top ? await askScratchPlaces(top, env) : undefined;
  if (!top || places === undefined) return askIsIgnored(path, cwd, env);
  const isTracked = askGit(["ls-files", "--error-unmatch", "--", path], cwd, env)?.code === 0;
  return !isTracked && isInPlaces(relative(top, path), places);
}

/** The places that the committed policy names; none at all where it cannot be read. */
export async function askScratchPlaces(root: string, env: Environment): Promise<string[] | undefined> {
  const policy = askGit(["show", `HEAD:${POLICY_FILE}`], root, env);
  if (policy?.code !== 0 || !policy.out.includes("scratch")) return undefined;
  const { fullYaml } = await import("../model/markdown/full-yaml.ts");
  try {
    return readConfigText(POLICY_FILE, policy.out, fullYaml).scratch;
  } catch {
    return [];
  }
}

export const isInPlaces = (path: string, places: readonly string[]) =>
  places.some((one) => matchesPattern(one.endsWith("/") ? `${one}**` : one, path));

/** What git says is not committed in the main checkout, new files included. */
export function askMainStatus(root: string, env: Environment): string | undefined {
  const status = askGit(STATUS, root, env);
  return status?.code === 0 ? status.out : undefined;
}

/** Undefined where there is no git: a hook never fails. */
function askGit(args: readonly string[], cwd: string, env: Environment): GitAnswer | undefined {
  try {
    return Git.in("brief", env, cwd).askSync(args);
  } catch {
    return undefined;
  }
}
