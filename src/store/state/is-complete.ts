import { existsSync } from "node:fs";
import { below } from "../../files/below.ts";
import { stateExists } from "../home.ts";
import type { Home } from "../layout.ts";

/** Nothing is missing of the state: asked before every write, so it only looks. */
export function isComplete(home: Home): boolean {
  return stateExists(home) && existsSync(below(home.state, ".git")) && home.clone !== "" && !isLost(home);
}

/** The folder is gone, or emptied, but its history is not. */
export function isLost(home: Home): boolean {
  if (!existsSync(below(home.state, ".git"))) return existsSync(below(home.gitDir, "HEAD"));
  return !existsSync(below(home.state, "tasks")) && hasHistory(home);
}

function hasHistory(home: Home): boolean {
  return ["refs/heads/pawl/state", "packed-refs"].some((name) => existsSync(below(home.gitDir, name)));
}
