import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { formatOf } from "../format.ts";
import { Git } from "../run-git.ts";
import type { HistoryGit } from "./history-git.ts";

/**
 * The tree that merging these two gives. Settings and attributes of a clone or a user choose drivers that make a merge
 * anything at all, so that it is made in an empty repository that has the objects alone, and is thrown away with it.
 */
export async function mergedTree(git: HistoryGit, onto: string, head: string): Promise<string | undefined> {
  const { commonDir } = git.site;
  const scratch = mkdtempSync(join(tmpdir(), "pawl-merge-"));
  const objects = join(scratch, "objects");
  const own = git.env.GIT_OBJECT_DIRECTORY ?? join(commonDir, "objects");
  const others = [JSON.stringify(own), git.env.GIT_ALTERNATE_OBJECT_DIRECTORIES].filter(Boolean);
  try {
    for (const folder of [objects, join(scratch, "refs")]) mkdirSync(folder);
    writeFileSync(join(scratch, "HEAD"), "ref: refs/heads/none\n");
    const format = formatOf(commonDir).objects;
    const extension = format === "sha1" ? "" : `[extensions]\n\tobjectformat = ${format}\n`;
    writeFileSync(
      join(scratch, "config"),
      `[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tattributesFile = ${devNull}\n${extension}`,
    );
    const alone = new Git("history", git.env, scratch, {
      GIT_DIR: scratch,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: others.join(delimiter),
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_ATTR_NOSYSTEM: "1",
    });
    return await alone.line(["merge-tree", "--write-tree", "--no-messages", onto, head]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
