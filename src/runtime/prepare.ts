import { existsSync } from "node:fs";
import { join } from "node:path";
import { stateExists } from "../store/home.ts";
import type { Home } from "../store/layout.ts";

/** Nothing is missing of the state: asked before every write, so it only looks. */
export function isComplete(home: Home): boolean {
  return stateExists(home) && existsSync(join(home.state, ".git")) && home.clone !== "";
}

/** The folder is gone, but its history is not. */
export function isLost(home: Home): boolean {
  return !existsSync(join(home.state, ".git")) && existsSync(join(home.gitDir, "HEAD"));
}
