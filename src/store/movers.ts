import { dirname, join } from "node:path";
import { lineIfReadable, textIfReadable } from "../files/read.ts";
import { BINDING, MOVERS } from "../git/discover.ts";
import { worktreesOf } from "../git/repository-files.ts";
import { printActor, recogniseAgent } from "../model/actor.ts";
import type { Home } from "./layout.ts";

/** Whoever moved the branch of a task, by the signs that their environment bore. */
export function readMovers({ local }: Home, task: string): string[] {
  const worktrees = worktreesOf({ commonDir: dirname(local), mainRoot: undefined });
  const found = worktrees
    .filter(({ gitDir }) => lineIfReadable(join(gitDir, BINDING)) === task)
    .flatMap(({ gitDir }) => (textIfReadable(join(gitDir, MOVERS)) ?? "").split("\n"))
    .flatMap((line) => {
      const signs = line
        .split(" ")
        .map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]);
      const actor = line === "" ? undefined : recogniseAgent(Object.fromEntries(signs));
      return actor ? [printActor(actor)] : [];
    });
  return [...new Set(found)];
}
