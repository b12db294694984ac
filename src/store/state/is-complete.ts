import { existsSync } from "node:fs";
import { hasRef, tipOf } from "../../git/refs.ts";
import { STATE_REF } from "../../model/naming.ts";
import { stateExists } from "../home.ts";
import type { Home } from "../layout.ts";

/** Nothing is missing of the state: asked before every write, so it only looks. */
export function isComplete(home: Home): boolean {
  return stateExists(home) && existsSync(`${home.state}/.git`) && home.clone !== "" && !isLost(home);
}

/** The folder is gone, or emptied, but its history is not. */
export function isLost(home: Home): boolean {
  if (!existsSync(`${home.state}/.git`)) return existsSync(`${home.gitDir}/HEAD`);
  return !existsSync(`${home.state}/tasks`) && hasRef(home.gitDir, STATE_REF);
}

/**
 * Where pawl itself last left the state's branch. Whoever resets that branch takes records and their events away together,
 * so that nothing among them tells of it; this ref stays where it was.
 */
export const NEWEST = "refs/pawl/newest";

/** The branch is where pawl left it, as almost always; two small files tell, and nothing else has to be loaded. */
export function isAtNewest(gitDir: string): boolean {
  return tipOf(gitDir, NEWEST) === tipOf(gitDir, STATE_REF);
}
