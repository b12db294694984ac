import { Failure } from "../../model/failure.ts";
import type { Git } from "../run-git.ts";

/** What a tree has at a path. */
export interface Entry {
  mode: string;
  oid: string;
}

/** A path at which two trees differ; a renamed file is one that goes and one that comes. */
export interface ChangedPath {
  path: string;
  old: Entry | undefined;
  new: Entry | undefined;
}

const NOTHING = "000000";
const SUBMODULE = "160000";
export const LINK = "120000";

export const isSubmodule = (entry: Entry | undefined) => entry?.mode === SUBMODULE;

export async function changedPaths(git: Git, from: string, to: string): Promise<ChangedPath[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
  const fields = await git.names("The changed files could not be listed", args);
  const changed: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = ""] = (fields[at] ?? "").slice(1).split(" ");
    const path = fields[at + 1] ?? "";
    // A name that is no UTF-8 came to us damaged, and a check of the damaged one would find nothing in its way.
    if (path.includes("\uFFFD")) throw unreadableName(path);
    changed.push({
      path,
      old: oldMode === NOTHING ? undefined : { mode: oldMode, oid: oldOid },
      new: newMode === NOTHING ? undefined : { mode: newMode, oid: newOid },
    });
  }
  return changed;
}

function unreadableName(path: string): Failure {
  return new Failure("refused", "unsupported_path", `A changed file's name is not UTF-8: "${path}".`, {
    hint: "Rename that file and commit the new name.",
    details: { file: path },
  });
}
