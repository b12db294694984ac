import { existsSync } from "node:fs";
import { join } from "node:path";

/** What git leaves in a worktree's own directory while something is begun and not ended. */
const OPERATIONS = [
  { file: "MERGE_HEAD", what: "a merge", end: "git merge --continue" },
  { file: "CHERRY_PICK_HEAD", what: "a cherry-pick", end: "git cherry-pick --continue" },
  { file: "REVERT_HEAD", what: "a revert", end: "git revert --continue" },
  { file: "rebase-merge", what: "a rebase", end: "git rebase --continue" },
  { file: "rebase-apply", what: "a rebase or am", end: "git rebase --continue" },
  {
    file: "sequencer",
    what: "a cherry-pick or revert of several commits",
    end: "git cherry-pick --continue",
  },
  { file: "BISECT_LOG", what: "a bisect", end: "git bisect reset" },
] as const;

export type UnfinishedOperation = (typeof OPERATIONS)[number];

export const operationIn = (gitDir: string): UnfinishedOperation | undefined =>
  OPERATIONS.find(({ file }) => existsSync(join(gitDir, file)));
