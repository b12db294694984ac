import type { Facts, Spot } from "../../src/agent-hooks/facts.ts";
import { matchesPattern } from "../../src/model/naming.ts";

/** A project on main with two tasks' worktrees, a repository that pawl does not guard, and nothing else. */
export const MAIN = "/code/project";
export const TASK = "/code/project/.worktrees/T0001-upload";
export const OTHER_TASK = "/code/project/.worktrees/T0002-search";
export const FEATURE = "/code/feature";
export const FOREIGN = "/code/foreign";
/** On main, which has no commit yet. */
export const NEWBORN = "/code/newborn";

const commonDir = `${MAIN}/.git`;

function spot(part: Partial<Spot> & Pick<Spot, "root">): Spot {
  return {
    gitDir: commonDir,
    commonDir,
    mainRoot: MAIN,
    branch: "main",
    unborn: false,
    task: undefined,
    guarded: true,
    isProtected: (branch) => ["main", "release/*"].some((pattern) => matchesPattern(pattern, branch)),
    ...part,
  };
}

const SPOTS: readonly Spot[] = [
  spot({
    root: TASK,
    gitDir: `${commonDir}/worktrees/T0001-upload`,
    branch: "task/T0001-upload",
    task: "T0001",
  }),
  spot({
    root: OTHER_TASK,
    gitDir: `${commonDir}/worktrees/T0002-search`,
    branch: "task/T0002-search",
    task: "T0002",
  }),
  spot({ root: FEATURE, gitDir: `${FEATURE}/.git`, commonDir: `${FEATURE}/.git`, branch: "feature" }),
  spot({
    ...{ root: FOREIGN, gitDir: `${FOREIGN}/.git`, commonDir: `${FOREIGN}/.git`, guarded: false },
    isProtected: () => false,
  }),
  spot({ root: NEWBORN, gitDir: `${NEWBORN}/.git`, commonDir: `${NEWBORN}/.git`, unborn: true }),
  spot({ root: MAIN }),
];

export const fakeFacts: Facts = {
  home: "/home/ada",
  holding: () => undefined,
  real: (path) => path.replace("/code/link", `${MAIN}/.git`),
  spotOf(folder) {
    const found = SPOTS.find(({ root }) => folder === root || folder.startsWith(`${root}/`));
    return found && folder.includes("/.git") ? { ...found, root: undefined, task: undefined } : found;
  },
};
