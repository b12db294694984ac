import { spawnSync } from "node:child_process";
import type { Environment } from "../model/environment.ts";

const PATIENCE_MS = 8_000;

function run(command: string, args: readonly string[], cwd: string, env: Environment) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    timeout: PATIENCE_MS,
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { code: status, out: stdout ?? "", err: stderr ?? "" };
}

/** The program beside this hook, in a process of its own: what it prints and how it fails is its own matter. */
export function askPawl(program: string, args: readonly string[], cwd: string, env: Environment) {
  // This variable alone doubles the start of Node 20, and nothing is fetched here.
  const { NODE_EXTRA_CA_CERTS: _unused, ...rest } = env;
  return run(process.execPath, [program, ...args], cwd, rest);
}

export function askIsIgnored(path: string, cwd: string, env: Environment): boolean {
  return run("git", ["check-ignore", "-q", "--", path], cwd, env).code === 0;
}

/** Paths that differ from what is committed, relative to the worktree's top. */
export function askChangedPaths(root: string, env: Environment): string[] {
  const args = ["--no-optional-locks", "status", "--porcelain=v1", "-z", "--no-renames"];
  return run("git", args, root, env)
    .out.split("\0")
    .filter((entry) => entry.length > 3)
    .map((entry) => entry.slice(3));
}
