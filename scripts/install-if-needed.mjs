// A fresh clone has no node_modules; whoever starts a script should not have to know.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

export function installIfNeeded(folder = root, options = []) {
  const [wanted, got] = ["package-lock.json", "node_modules/.package-lock.json"].map((file) =>
    join(folder, file),
  );
  if (existsSync(got) && statSync(got).mtimeMs >= statSync(wanted).mtimeMs) return true;
  return step("install", "npm", ["ci", "--no-audit", "--no-fund", ...options], folder);
}

/** Runs one step with its output shown; true when it succeeded. */
export function step(name, command, args, cwd = root, env = process.env) {
  process.stderr.write(`\n== ${name}\n`);
  const run = spawnSync(command, args, {
    cwd,
    env,
    stdio: ["inherit", 2, 2],
    shell: process.platform === "win32",
  });
  return run.status === 0;
}
