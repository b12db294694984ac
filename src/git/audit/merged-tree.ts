import { rmSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { makeScratch } from "../../files/scratch-folder.ts";
import { formatOf } from "../format.ts";
import { Git } from "../run-git.ts";
import type { HistoryGit } from "./history-git.ts";

/**
 * The tree that merging these two gives. Settings and attributes of a clone or a user choose drivers that make a merge
 * anything at all, so that it is made in an empty repository that has the objects alone, and is thrown away with it.
 */
export async function mergedTree(git: HistoryGit, onto: string, head: string): Promise<string | undefined> {
  const { commonDir } = git.site;
  const scratch = makeScratch("merge", ["objects", "refs"]);
  try {
    writeFileSync(join(scratch, "HEAD"), "ref: refs/heads/none\n");
    const format = formatOf(commonDir).objects;
    const extension = format === "sha1" ? "" : `[extensions]\n\tobjectformat = ${format}\n`;
    writeFileSync(
      join(scratch, "config"),
      `[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tattributesFile = ${devNull}\n${extension}`,
    );
    const alone = new Git("history", git.env, scratch, {
      GIT_DIR: scratch,
      ...git.writingTo(join(scratch, "objects")),
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_ATTR_NOSYSTEM: "1",
    });
    return await alone.line(["merge-tree", "--write-tree", "--no-messages", onto, head]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
