import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { namesIfReadable } from "../../files/read.ts";
import type { ProjectLook } from "./kinds.ts";

/** A manifest is a page or two; what is bigger is read by nobody. */
const MOST_BYTES = 512 * 1024;

/** What cannot be read is as good as absent: a proposal is never worth a failure. */
export function lookAtProject(root: string): ProjectLook {
  const list = (folder: string) => namesIfReadable(join(root, folder)).sort();
  return {
    names: new Set(list("")),
    list,
    read(path) {
      try {
        const at = join(root, path);
        const stat = statSync(at);
        return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(at, "utf8") : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
