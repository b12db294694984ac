import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasRef } from "../../git/refs.ts";
import { stateExists } from "../home.ts";
import type { Home } from "../layout.ts";

const STATE = "refs/heads/pawl/state";

/** Nothing is missing of the state: asked before every write, so it only looks. */
export function isComplete(home: Home): boolean {
  return stateExists(home) && existsSync(join(home.state, ".git")) && home.clone !== "" && !isLost(home);
}

/** The folder is gone, or emptied, but its history is not. */
export function isLost(home: Home): boolean {
  if (!existsSync(join(home.state, ".git"))) return existsSync(join(home.gitDir, "HEAD"));
  return !existsSync(join(home.state, "tasks")) && hasRef(home.gitDir, STATE);
}
