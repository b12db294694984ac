// @module-tag proof
// @module-tag again
import { describe } from "vitest";
import { newerGit, notRun } from "../helpers/optional-program.ts";
import { describeMatrix } from "./describe-matrix.ts";

const git = newerGit();
const title = "the guard, where refs lie in tables and objects have SHA-256 names";

if (git === undefined) describe.skip(`${title}${notRun(false, "git 2.54 or newer")}`, () => {});
else
  describeMatrix(`${title}, with git ${git.version}`, {
    git,
    formats: { objects: "sha256", refs: "reftable" },
  });
