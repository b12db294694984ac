import { rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../files/digest.ts";
import { replaceFile } from "../files/durable.ts";
import { jsonIfReadable, namesIfPresent } from "../files/read.ts";
import type { Viewed, ViewedFile } from "../ports/viewed.ts";

/** One small file per mark, so that two tabs never write the same one. */
export function openViewed(local: string): Viewed {
  const folderOf = (task: string) => join(local, "viewed", task);
  const fileOf = (task: string, { repo, path }: Pick<ViewedFile, "repo" | "path">) =>
    join(folderOf(task), sha256(`${repo}\0${path}`).slice(0, 32));
  return {
    of: (task) =>
      namesIfPresent(folderOf(task)).flatMap((name) => {
        const mark = jsonIfReadable<ViewedFile>(join(folderOf(task), name));
        if (![mark?.repo, mark?.path, mark?.digest].every((one) => typeof one === "string")) return [];
        const { repo, path, digest, commit } = mark as ViewedFile;
        return [{ repo, path, digest, commit: /^[0-9a-f]{40,64}$/.test(`${commit}`) ? commit : undefined }];
      }),
    mark(task, file) {
      const { repo, path, digest, commit } = file;
      replaceFile(fileOf(task, file), JSON.stringify({ repo, path, digest, commit }));
    },
    unmark: (task, file) => rmSync(fileOf(task, file), { force: true }),
  };
}
