import { dirname } from "node:path";
import { textIfReadable } from "../files/read.ts";
import { sawBeginning } from "../files/sessions.ts";
import { holderOfWorktree, keptMovers, MOVERS, taskOfWorktree } from "../git/discover.ts";
import { worktreesOf } from "../git/repository-files.ts";
import { agentsIn, printActor } from "../model/actor.ts";
import type { Held, Mover } from "../ports/ports.ts";
import { type Home, homeCommonDir } from "./layout.ts";
import { readLinks } from "./links.ts";

/** Who moved a task's branch and who holds it, from what lies beside its worktrees. */
export const whoWorks = (home: Home) => ({
  movers: (task: string) => readMovers(home, task),
  holders: () => readHolders(home),
});

/** Whoever moved the branch of a task, in each of its repositories on this machine, by the signs that their environment bore. */
function readMovers(home: Home, task: string): Mover[] {
  return commonDirsOf(home).flatMap((commonDir) =>
    [keptMovers(commonDir, task), ...moversBeside(commonDir, task)]
      .flatMap((file) => (textIfReadable(file) ?? "").split("\n"))
      .flatMap((line) => agentsIn(signsIn(line)))
      .map((actor) => ({
        actor: printActor(actor),
        anySession: printActor({ ...actor, session: undefined }),
        seen: sawBeginning(commonDir, actor),
      })),
  );
}

const moversBeside = (commonDir: string, task: string) =>
  worktreesOf({ commonDir, mainRoot: undefined })
    .filter(({ gitDir }) => taskOfWorktree(gitDir) === task)
    .map(({ gitDir }) => `${gitDir}/${MOVERS}`);

/** Which session of which agent holds each task that has a worktree here. */
function readHolders(home: Home): Held[] {
  return commonDirsOf(home).flatMap((commonDir) =>
    worktreesOf({ commonDir, mainRoot: undefined }).flatMap(({ gitDir }) => {
      const [task, holder] = [taskOfWorktree(gitDir), holderOfWorktree(gitDir)];
      return task && holder ? [{ task, holder }] : [];
    }),
  );
}

const signsIn = (line: string): Record<string, string> =>
  Object.fromEntries(
    line.split(" ").flatMap((one) => {
      const at = one.indexOf("=");
      return at < 1 ? [] : [[one.slice(0, at), one.slice(at + 1)]];
    }),
  );

/** The repositories of this state: the one we stand in, the state's own, and those that are linked to it. */
const commonDirsOf = (home: Home) => [
  ...new Set([
    dirname(home.local),
    homeCommonDir(home),
    ...readLinks(home)
      .filter((one) => one.found)
      .map((one) => one.commonDir),
  ]),
];
