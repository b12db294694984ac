import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** The oldest line of Node that is supported is the one the tests run on; the others come from the npm package `node`. */
export const OTHER_NODES = ["22", "24"];

/** The folder of such a program, below the project's `node_modules`. Kept between runs: each is about 100 MB to fetch. */
export function nodeFolder(root: string, version: string, env: NodeJS.ProcessEnv): string {
  const prefix = join(root, "node_modules", ".cache", "pawl-nodes", version);
  const bin = join(prefix, "node_modules", "node", "bin");
  if (!existsSync(join(bin, "node"))) {
    mkdirSync(prefix, { recursive: true });
    const args = ["install", "--prefix", prefix, "--no-save", "--prefer-offline", `node@${version}`];
    execFileSync("npm", args, { cwd: prefix, env, stdio: "pipe" });
  }
  return bin;
}
