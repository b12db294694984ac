// @module-tag proof
// @module-tag again
import { describe } from "vitest";
import { newerGit, notRun, systemGit } from "../helpers/optional-program.ts";
import { describeMatrix } from "./describe-matrix.ts";

const git = newerGit();

// Where the machine's own git is new enough, matrix.test.ts has tried it.
if (git === undefined)
  describe.skip(`the guard, with a newer git${notRun(false, "git 2.54 or newer")}`, () => {});
else if (git !== systemGit) describeMatrix(`the guard, with git ${git.version}`, { git });
